import * as z from 'zod/mini'
import * as f from './fields.ts'
import { listOrPage, orderBy, pageQuery, searchText } from './lists.ts'

/**
 * What a person can set for an access token of a node. Without `expireAt` it is valid until it is revoked. A moment
 * in the past by less than a day is the beginning of today, as some clients send it, and means the end of the day.
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
  /** The id of the token that is revoked when this one is used for the first time; null when it replaces none. */
  replaces: z.nullable(z.number()),
  /** Whether the agent registered the node's present key with this token. */
  broughtKey: z.boolean(),
  /** How many of the node's services were last published with this token. */
  published: z.number(),
  /** In ms since the epoch: the last request with this token, or now while its agent is connected; null: never. */
  lastUsed: z.nullable(z.number()),
  /** The IP address that this request came from; null: never used, or unknown. */
  lastUsedFrom: z.nullable(z.string()),
  created_at: f.time,
  updated_at: f.time,
})
export type Pat = z.infer<typeof Pat>

/** What may go together with a token: the node's key, so that the peer leaves the tunnel, and services. */
export const PatEnd = z.strictObject({ forgetKey: z.optional(z.literal('true')) })
export type PatEnd = z.infer<typeof PatEnd>

/** The answer to a creation: the token and, only here, its value. */
export const CreatedPat = z.extend(Pat, { token: z.string() })
export type CreatedPat = z.infer<typeof CreatedPat>

export const PatQuery = z.strictObject({
  ...pageQuery,
  search: searchText,
  orderBy: orderBy(['name', 'created_at']),
})
export type PatQuery = z.infer<typeof PatQuery>

export const PatList = listOrPage(Pat)
