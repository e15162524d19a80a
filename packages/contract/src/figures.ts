import * as z from 'zod/mini'
import { time } from './fields.ts'

/** The last 60 minutes, the last 24 hours by the minute, or the last 30 days by the hour. */
export const FiguresSpan = z.enum(['hour', 'day', 'month'])
export type FiguresSpan = z.infer<typeof FiguresSpan>

export const FiguresQuery = z.strictObject({ span: z._default(FiguresSpan, 'day') })

const series = z.array(z.number())

/**
 * What visitors and services exchanged, oldest first and with a 0 where nothing was: `series` has one number for each
 * `step` seconds since `from`. The last one is of the minute or hour that has not ended yet.
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
  }),
})
export type Figures = z.infer<typeof Figures>
