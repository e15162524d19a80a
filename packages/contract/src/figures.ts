import * as z from 'zod/mini'
import { time } from './fields.ts'
import { LIMITS } from './limits.ts'
import { count } from './lists.ts'

/** The last 60 minutes, the last 24 hours by the minute, or the last 7 or 30 days by the hour. */
export const FiguresSpan = z.enum(['hour', 'day', 'week', 'month'])
export type FiguresSpan = z.infer<typeof FiguresSpan>

/** Of the longest span, a day by the minute. */
export const MOST_POINTS = 1440

export const FiguresQuery = z.strictObject({
  span: z._default(FiguresSpan, 'day'),
  /** At most so many points: a whole number of minutes or hours become one. */
  points: z.optional(count(MOST_POINTS)),
})
export type FiguresQuery = z.infer<typeof FiguresQuery>

const series = z.array(z.number())
const times = z.array(z.nullable(z.number()))

/**
 * What visitors and services exchanged, oldest first and with a 0 where nothing was: `series` has one number for each
 * `step` seconds since `from`. The last one is for the step that is still running.
 */
export const Figures = z.object({
  from: time,
  step: z.number(),
  series: z.object({
    /** Connections of a TCP service, flows of a UDP service, requests to an HTTP service. */
    connections: series,
    /** From visitors, in bytes. */
    received: series,
    /** To visitors, in bytes. */
    sent: series,
    /** Requests that got a status of 500 or above, also from a page of the proxy. */
    errors: series,
    /** Within how many ms half of the answers came, and 95 % of them; null where nothing was answered. */
    p50: times,
    p95: times,
  }),
  /** Of the whole span: the sums, and the times of all its answers together. */
  whole: z.object({
    connections: z.number(),
    received: z.number(),
    sent: z.number(),
    errors: z.number(),
    p50: z.nullable(z.number()),
    p95: z.nullable(z.number()),
  }),
})
export type Figures = z.infer<typeof Figures>

const MANY_IDS = `must be at most ${LIMITS.maxPageSize} ids, like 3,7,12`

/** The services, nodes, domains or edges of one page of a list: `ids=3,7,12`. */
export const TrafficQuery = z.strictObject({
  ids: z.pipe(
    z
      .string()
      .check(z.regex(/^[1-9]\d{0,14}(,[1-9]\d{0,14})*$/, MANY_IDS), z.maxLength(16 * LIMITS.maxPageSize)),
    z.pipe(
      z.transform((text: string) => [...new Set(text.split(',').map(Number))]),
      z.array(z.number()).check(z.maxLength(LIMITS.maxPageSize, MANY_IDS)),
    ),
  ),
})

/** What each of some services, nodes or domains carried in the last 24 hours, in bytes. */
export const Traffic = z.object({
  from: time,
  step: z.number(),
  data: z.array(
    z.object({
      id: z.number(),
      received: z.number(),
      sent: z.number(),
      /** Both together for each `step` seconds since `from`, as of `Figures`. */
      line: series,
    }),
  ),
})
export type Traffic = z.infer<typeof Traffic>
