import * as z from 'zod/mini'
import * as f from './fields.ts'
import { ServiceState } from './services.ts'

/** A service that visitors cannot use although its node is there. */
const TroubledService = z.object({
  id: z.number(),
  name: z.string(),
  nodeId: z.number(),
  nodeName: z.string(),
  state: ServiceState,
})
export type TroubledService = z.infer<typeof TroubledService>

/** A node that was there and is gone, though nobody disconnected it. */
const LostNode = z.object({
  id: z.number(),
  name: z.string(),
  /** ms since the epoch. */
  lastSeen: z.number(),
  /** How many of its services are enabled, which nobody reaches. */
  services: z.number(),
})
export type LostNode = z.infer<typeof LostNode>

/** A domain whose first certificate of the chosen authority could not be had. */
const UnissuedCertificate = z.object({
  /** The domain's. */
  id: z.number(),
  domain: z.string(),
  error: z.string(),
})
export type UnissuedCertificate = z.infer<typeof UnissuedCertificate>

/** One line of what was done lately. */
const RecentChange = z.object({
  revision: z.number(),
  at: f.time,
  actor: z.string(),
  /** In a few words, like `service updated`. */
  what: z.string(),
  /** What the changed thing was called then; null where `what` says it all. */
  name: z.nullable(z.string()),
  /** The node on whose page it is; null for none, or one that was deleted since. */
  nodeId: z.nullable(z.number()),
  /** The domain that it was about; null for none, or one that was deleted since. */
  domain: z.nullable(z.string()),
})
export type RecentChange = z.infer<typeof RecentChange>

/** What matters of the whole installation. The local node and the console's own service do not count. */
export const Overview = z.object({
  /** How many there are of each: `offline` were lost, `disconnected` are so by a person. */
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
  /** Those with the most services first; five at most. */
  lost: z.array(LostNode),
  /** Those that are `failed` or `unanswered`; failed ones first, five at most. */
  troubled: z.array(TroubledService),
  /** How many there are, and five of them at most. */
  unissued: z.object({ count: z.number(), first: z.array(UnissuedCertificate) }),
  /** The newest first; eight at most. */
  changes: z.array(RecentChange),
})
export type Overview = z.infer<typeof Overview>

/** Whether the name of the installation leads to it; `problem` says in words why not. */
export const PublicHostCheck = z.object({
  host: z.string(),
  isName: z.boolean(),
  problem: z.nullable(z.string()),
})
export type PublicHostCheck = z.infer<typeof PublicHostCheck>
