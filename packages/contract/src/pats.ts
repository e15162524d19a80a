import * as z from 'zod/mini'
import * as f from './fields.ts'
import { listOrPage, orderBy, pageQuery, searchText } from './lists.ts'

/**
 * What a person can say about an access token of a node. Without `expireAt` it holds until it is revoked. A moment that
 * is over for less than a day is the beginning of today, as some clients say it, and means the day's end.
 */
export const PatForm = z.strictObject({ name: f.name, expireAt: f.blankable(f.instant) })
export type PatForm = z.infer<typeof PatForm>

/** A personal access token, without its value. */
export const Pat = z.object({
  id: z.number(),
  nodeId: z.number(),
  name: z.string(),
  expireAt: z.nullable(f.time),
  revoked: z.boolean(),
  /** Whether the agent registered the key that the node has by this token. */
  broughtKey: z.boolean(),
  /** How many of the node's services were last published by this token. */
  published: z.number(),
  /** In ms since the epoch: the last request that came with it, or now while its agent is connected; null for never. */
  lastUsed: z.nullable(z.number()),
  /** The IP address that this request came from; null for never, or where that is not known. */
  lastUsedFrom: z.nullable(z.string()),
  created_at: f.time,
  updated_at: f.time,
})
export type Pat = z.infer<typeof Pat>

/** When a token ends, what came by it may go, too: the key of the node, so that the peer leaves the tunnel, and services. */
export const PatEnd = z.strictObject({ forgetKey: z.optional(z.literal('true')) })
export type PatEnd = z.infer<typeof PatEnd>

/** The answer to a creation: the token and, this one time, its value. */
export const CreatedPat = z.extend(Pat, { token: z.string() })
export type CreatedPat = z.infer<typeof CreatedPat>

export const PatQuery = z.strictObject({
  ...pageQuery,
  search: searchText,
  orderBy: orderBy(['name', 'created_at']),
})
export type PatQuery = z.infer<typeof PatQuery>

export const PatList = listOrPage(Pat)
