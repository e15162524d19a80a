import { findCidr, formatCidr } from '@postern/net/cidr'
import * as z from 'zod/mini'
import { domainName, idText, instant } from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { ServiceType } from '../services/services.ts'
import { KeptRequest } from './kept.ts'
import { REASON_CODES } from './reasons.ts'

const source = z.pipe(
  z.string().check(
    z.trim(),
    z.refine(
      (text) => findCidr(text) !== undefined,
      'must be an IP address or a network like 203.0.113.0/24',
    ),
  ),
  z.transform((text: string) => {
    const cidr = findCidr(text)
    return cidr ? formatCidr(cidr) : text
  }),
)

/** `404`, or `4xx` for all of its class; out comes the first and the last of them. */
const status = z.pipe(
  z.string().check(z.regex(/^[1-5](\d\d|xx)$/, 'must be a status like 404, or a class like 4xx')),
  z.transform((text: string): [number, number] => [
    Number(text.replaceAll('x', '0')),
    Number(text.replaceAll('x', '9')),
  ]),
)

const milliseconds = z.pipe(
  z.string().check(z.regex(/^\d{1,9}$/, 'must be a number of milliseconds')),
  z.transform(Number),
)

const limit = z.pipe(
  z
    .string()
    .check(
      z.refine(
        (text) => /^[1-9]\d{0,2}$/.test(text) && +text <= LIMITS.requestPage,
        `must be a number from 1 to ${LIMITS.requestPage}`,
      ),
    ),
  z.transform(Number),
)

/** A place in what each edge keeps: `<edge>-<segment>-<number>`, or `<edge>-end`, separated by commas. */
const cursor = z
  .string()
  .check(z.maxLength(2000), z.regex(/^\d{1,9}-(\d{1,12}-\d{1,9}|end)(,\d{1,9}-(\d{1,12}-\d{1,9}|end))*$/))

/** What kept requests are looked for by. All that is said must be true of a request. */
const filters = {
  from: z.optional(instant),
  to: z.optional(instant),
  service: z.optional(idText),
  node: z.optional(idText),
  domain: z.optional(domainName),
  type: z.optional(KeptRequest.shape.type),
  status: z.optional(status),
  method: z.optional(
    z.string().check(z.trim(), z.toUpperCase(), z.regex(/^[A-Z][A-Z-]{0,19}$/, 'must be a method like GET')),
  ),
  source: z.optional(source),
  path: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
  person: z.optional(z.string().check(z.trim(), z.toLowerCase(), z.minLength(1), z.maxLength(254))),
  reason: z.optional(z.enum(['any', ...REASON_CODES])),
  /** In ms: what took at least so long. */
  minTime: z.optional(milliseconds),
}

export const RequestQuery = z.strictObject({
  ...filters,
  limit: z._default(limit, 50),
  before: z.optional(cursor),
})
export type RequestQuery = z.output<typeof RequestQuery>
export type RequestFilters = Omit<RequestQuery, 'limit' | 'before'>

const token = z.optional(z.string())

export const RequestStreamQuery = z.strictObject({ ...filters, after: z.optional(cursor), token })

/** JSON lines, or CSV with a line of names. */
export const RequestExportQuery = z.strictObject({ ...filters, format: z.enum(['jsonl', 'csv']), token })
export type RequestExportQuery = z.output<typeof RequestExportQuery>

/** A kept request as the console sees it. */
export const ShownRequest = z.extend(z.omit(KeptRequest, { service: true }), {
  id: z.string(),
  edge: z.string(),
  serviceId: z.number(),
  /** Null: it is deleted. */
  service: z.nullable(
    z.object({
      id: z.number(),
      name: z.string(),
      type: ServiceType,
      nodeId: z.number(),
      nodeName: z.string(),
      domain: z.nullable(z.string()),
    }),
  ),
})
export type ShownRequest = z.infer<typeof ShownRequest>

export const RequestPage = z.object({
  data: z.array(ShownRequest),
  /** The cursor to go on with, also from a page that is not full: then the time was up. Null: there is nothing older. */
  next: z.nullable(z.string()),
  /** How far back it has looked, in ms since the epoch. */
  reached: z.nullable(z.number()),
  /** For the stream, which goes on from here. */
  newest: z.nullable(z.string()),
  /** What the service is called that was asked for; null: none was, or it is deleted. */
  serviceName: z.nullable(z.string()),
  /** Edges that gave no answer: what they keep is not here. */
  silent: z.array(z.string()),
})
export type RequestPage = z.infer<typeof RequestPage>

/** What came since, the newest first; `missed`: there was more than fits. */
export const RequestBatch = z.object({ data: z.array(ShownRequest), missed: z.boolean() })
export type RequestBatch = z.infer<typeof RequestBatch>
