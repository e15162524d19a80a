import * as z from 'zod/mini'
import { ErrorCode } from '../errors.ts'
import * as f from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { searchText } from '../lists.ts'
import { ServiceFilter } from './services.ts'

/** Where a service is and leads to; what is absent stays as it is. */
export const ServicePlace = z.strictObject({
  nodeId: z.optional(f.id),
  /** One that exists; null: the public host. */
  domain: z.optional(z.nullable(f.domainName)),
  backendHost: z.optional(z.nullable(f.backendHost)),
})
export type ServicePlace = z.infer<typeof ServicePlace>

/** With `updated_at` it is left as it is if somebody has changed it since. */
const ManyRecord = z.strictObject({ id: f.id, updated_at: z.optional(z.string().check(z.maxLength(30))) })
const ManyService = z.extend(ManyRecord, { to: z.optional(ServicePlace) })

/**
 * Which records: some that are named, or by the filter of their list all that it finds, in the order of their ids: those
 * `after` an id, and so many at most. What is left is for further requests.
 */
function chosen<R extends z.ZodMiniType, F extends z.ZodMiniType>(record: R, filter: F) {
  return {
    records: z.optional(z.array(record).check(z.minLength(1), z.maxLength(LIMITS.manyAtOnce))),
    filter: z.optional(filter),
    after: z._default(z.int().check(z.gte(0)), 0),
    limit: z._default(z.int().check(z.gte(1), z.lte(LIMITS.manyAtOnce)), LIMITS.manyAtOnce),
  }
}

interface Chosen {
  records?: unknown
  filter?: unknown
}

const oneOfBoth = () =>
  z.refine<Chosen>((form) => (form.records === undefined) !== (form.filter === undefined), {
    path: ['records'],
    error: 'Name records or a filter, and not both',
    ...f.together,
  })

export const ManyServices = z
  .strictObject({
    action: z.enum(['enable', 'disable', 'delete', 'move']),
    ...chosen(ManyService, ServiceFilter),
    /** Where they move to. A record may say so of its own. */
    to: z.optional(ServicePlace),
  })
  .check(
    oneOfBoth(),
    z.refine(
      ({ action, to, records }) =>
        action !== 'move' || to !== undefined || records?.every((record) => record.to !== undefined) === true,
      { path: ['to'], error: 'Say where they move to', ...f.together },
    ),
  )
export type ManyServices = z.infer<typeof ManyServices>

export const NodeFilter = z.strictObject({
  search: searchText,
  type: z.optional(z.enum(['nodes', 'gateways'])),
})
export const ManyNodes = z
  .strictObject({ action: z.enum(['enable', 'disable', 'delete']), ...chosen(ManyRecord, NodeFilter) })
  .check(oneOfBoth())
export type ManyNodes = z.infer<typeof ManyNodes>

const SearchFilter = z.strictObject({ search: searchText })
export const ManyDomains = z
  .strictObject({ action: z.enum(['delete']), ...chosen(ManyRecord, SearchFilter) })
  .check(oneOfBoth())
export type ManyDomains = z.infer<typeof ManyDomains>

export const ManyTokens = z
  .strictObject({
    action: z.enum(['revoke', 'delete']),
    ...chosen(ManyRecord, SearchFilter),
    /** As of one token: what came by it goes, too. */
    forgetKey: z._default(z.boolean(), false),
  })
  .check(oneOfBoth())
export type ManyTokens = z.infer<typeof ManyTokens>

/** What became of the records of one request. */
export const ManyResult = z.object({
  /** Those that were changed: with their new `updated_at`, or null when they are gone. */
  done: z.array(
    z.object({
      id: z.number(),
      updated_at: z.nullable(f.time),
      /** Of one that moved: what brings it back. */
      from: z.optional(ServicePlace),
    }),
  ),
  /** How many were so already. */
  unchanged: z.number(),
  /** Those that could not be changed, and in words why not; `name` is null for what is not there. */
  refused: z.array(
    z.object({ id: z.number(), name: z.nullable(z.string()), code: ErrorCode, message: z.string() }),
  ),
  /** With a filter: the id after which to go on; null when nothing is left. */
  next: z.nullable(z.number()),
})
export type ManyResult = z.infer<typeof ManyResult>
