import * as z from 'zod/mini'
import { Certificate } from './certificates.ts'
import * as f from './fields.ts'
import { listOrPage, pageQuery, searchText } from './lists.ts'
import { ServiceState, ServiceType } from './services/services.ts'

/** Something that needs a person. Failures on our side come first, then what is merely not as it should be. */
export const Attention = z.object({
  /** Its place in the list. */
  id: z.number(),
  kind: z.enum(['edge', 'node', 'service', 'certificate']),
  /** `none`: no service is affected. */
  tone: z.enum(['bad', 'warn', 'none']),
  /** The name of the edge, the node, the service or the domain. */
  name: z.string(),
  /** The node itself, or that of the service. */
  nodeId: z.nullable(z.number()),
  nodeName: z.nullable(z.string()),
  /** Services only. */
  type: z.nullable(ServiceType),
  /** In words; null for a lost node. */
  problem: z.nullable(z.string()),
  /**
   * When a node was last seen, in ms since the epoch, and how many of its services are out of reach; null for all
   * else.
   */
  lost: z.nullable(z.object({ lastSeen: z.number(), services: z.number() })),
  /** When the certificate whose renewal fails expires. */
  notAfter: z.nullable(f.time),
})
export type Attention = z.infer<typeof Attention>

export const AttentionQuery = z.strictObject({
  ...pageQuery,
  search: searchText,
  type: z.optional(Attention.shape.kind),
})
export type AttentionQuery = z.infer<typeof AttentionQuery>
export const AttentionList = listOrPage(Attention)

/** One line of the recent changes. */
const RecentChange = z.object({
  revision: z.number(),
  at: f.time,
  actor: z.string(),
  /** In a few words, like `service updated`. */
  what: z.string(),
  /** The name that the changed thing had then; null where `what` says it all. */
  name: z.nullable(z.string()),
  /** The node on whose page it is; null for none, or one that was deleted since. */
  nodeId: z.nullable(z.number()),
  /** The domain that it was about; null for none, or one that was deleted since. */
  domain: z.nullable(z.string()),
})
export type RecentChange = z.infer<typeof RecentChange>

/** The state of the whole installation at a glance. The local node and the console's own service do not count. */
export const Overview = z.object({
  /** How many are in each state: `offline` nodes were lost, `disconnected` ones a person disconnected. */
  nodes: z.object({
    online: z.number(),
    idle: z.number(),
    offline: z.number(),
    neverConnected: z.number(),
    disconnected: z.number(),
  }),
  /** How many there are in each phase, and how many are disabled. */
  services: z.record(ServiceState.shape.phase, z.number()),
  disabledServices: z.number(),
  /**
   * How many domains have the certificate that they want, how many have it on order, and how many could not get it.
   */
  certificates: z.record(Certificate.shape.status, z.number()),
  /** Newest first; eight at most. */
  changes: z.array(RecentChange),
})
export type Overview = z.infer<typeof Overview>

/** Whether the installation's name leads to it; `problem` says in words why not. */
export const PublicHostCheck = z.object({
  host: z.string(),
  isName: z.boolean(),
  problem: z.nullable(z.string()),
})
export type PublicHostCheck = z.infer<typeof PublicHostCheck>
