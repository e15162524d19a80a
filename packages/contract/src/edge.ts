import * as z from 'zod/mini'
import { LIMITS } from './limits.ts'

/** What keeps a part of the data plane, or one service, from being as wanted; `message` is for people. */
export const Problem = z.object({
  scope: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('edge') }),
    z.object({ kind: z.literal('service'), id: z.number() }),
    z.object({ kind: z.literal('certificate'), id: z.number() }),
    z.object({ kind: z.literal('node'), id: z.number() }),
  ]),
  message: z.string().check(z.maxLength(LIMITS.problemLength)),
})
export type Problem = z.infer<typeof Problem>

/** `missing`: the program or the right is not there; `failed`: it is there and does not do its job. */
export const PartState = z.object({
  state: z.enum(['ok', 'failed', 'missing']),
  /** What it is, like `HAProxy 3.0.11` or `wireguard-go`, or why it is not ok. */
  detail: z.string(),
})
export type PartState = z.infer<typeof PartState>

export const DataPlane = z.object({ haproxy: PartState, wireguard: PartState, nftables: PartState })
export type DataPlane = z.infer<typeof DataPlane>

/** The revision that each part has in force, also when others fail. One that is missing has nothing to wait for. */
export const InForce = z.object({ haproxy: z.number(), wireguard: z.number(), nftables: z.number() })
export type InForce = z.infer<typeof InForce>

const ids = z.array(z.number()).check(z.maxLength(LIMITS.edgePorts))

/** What the edge knows of the ports of TCP and UDP services beside what is wrong. */
export const PortFacts = z.object({
  /** UDP services to which only visitors with an address of this kind come. */
  ipv4Only: ids,
  ipv6Only: ids,
  /** Ports of the range that other programs of the machine hold. */
  held: z.object({ tcp: ids, udp: ids }),
})
export type PortFacts = z.infer<typeof PortFacts>

export const EdgeReport = z.object({
  wanted: z.number(),
  /** The least of `inForce`. */
  applied: z.number(),
  inForce: InForce,
  problems: z.array(Problem).check(z.maxLength(LIMITS.edgeProblems)),
  /** Changes wait until someone acts: one of the problems says why nothing new can be taken over. */
  isStuck: z.optional(z.boolean()),
  dataPlane: DataPlane,
  ports: z.optional(PortFacts),
})
export type EdgeReport = z.infer<typeof EdgeReport>

/** One peer as the tunnel shows it. Counters are bytes as the server sees them: `rx` came from the node. */
export const PeerFigures = z.object({
  nodeId: z.number(),
  /** ms since the epoch; null: none since the tunnel was made. */
  latestHandshake: z.nullable(z.number()),
  rx: z.number(),
  tx: z.number(),
  clientIp: z.nullable(z.string()),
  /** Whether the last probe through the tunnel was answered. */
  reachable: z.boolean(),
})
export type PeerFigures = z.infer<typeof PeerFigures>

/**
 * Why a service's backend gives no answer: nothing has asked it yet, it refused the connection, did not take it in
 * time, or its host cannot be reached; TLS failed, it speaks no TLS where it should, or TLS where it should not.
 */
export const BackendTrouble = z.enum([
  'unchecked',
  'refused',
  'timeout',
  'unreachable',
  'tls',
  'no-tls',
  'only-tls',
])
export type BackendTrouble = z.infer<typeof BackendTrouble>

/** `trouble` null: it answers again. */
export const BackendReport = z.object({ service: z.number(), trouble: z.nullable(BackendTrouble) })
export type BackendReport = z.infer<typeof BackendReport>

/**
 * `seq` grows by one for each line of the edge's life, also of other services; `epoch` names that life.
 * `number` counts the lines of this service alone, so that a gap says how many the edge had to drop.
 */
export const LogLine = z.object({
  service: z.number(),
  seq: z.number(),
  number: z.number(),
  text: z.string().check(z.maxLength(LIMITS.logLineLength)),
})
export type LogLine = z.infer<typeof LogLine>

const count = z.int().check(z.gte(0))

/** What a service carried: its id, connections (requests, flows), bytes from visitors, bytes to visitors. */
export const ServiceCount = z.tuple([z.int().check(z.positive()), count, count, count])
export type ServiceCount = z.infer<typeof ServiceCount>

/** One edge's record of what it has counted; another one when that was lost. */
const ledger = z.string().check(z.regex(/^[a-z0-9]{1,32}$/))

/** From the server to the edge: hints, never data. */
export const EdgeHint = z.discriminatedUnion('type', [
  z.object({ type: z.literal('changed'), revision: z.number() }),
  /** The services whose log lines people watch now; of new ones the edge first sends what it kept. */
  z.object({ type: z.literal('watch'), services: z.array(z.number()) }),
  /** The counts of this ledger are stored up to this number, and need not be sent again. */
  z.object({ type: z.literal('counted'), ledger, seq: z.number() }),
])
export type EdgeHint = z.infer<typeof EdgeHint>

/** From the edge to the server. */
export const EdgeMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    version: z.string(),
    epoch: z.string().check(z.regex(/^[a-z0-9]{1,32}$/)),
  }),
  z.object({ type: z.literal('report'), report: EdgeReport }),
  z.object({ type: z.literal('peers'), peers: z.array(PeerFigures) }),
  /** `isFirst`: what was said of backends before is forgotten. Of those that are never named nothing is wrong. */
  z.object({
    type: z.literal('backends'),
    isFirst: z.boolean(),
    backends: z.array(BackendReport).check(z.maxLength(LIMITS.backendReports)),
  }),
  z.object({ type: z.literal('logs'), lines: z.array(LogLine).check(z.maxLength(LIMITS.logLines)) }),
  /**
   * What services carried since the counts before, as of this minute since the epoch. `seq` grows by one within a
   * ledger. The edge sends it again until it hears `counted`; what was stored already counts only once.
   */
  z.object({
    type: z.literal('counts'),
    ledger,
    seq: z.int().check(z.positive()),
    minute: z.int().check(z.gte(0)),
    counts: z.array(ServiceCount).check(z.maxLength(LIMITS.serviceCounts)),
  }),
])
export type EdgeMessage = z.infer<typeof EdgeMessage>

/** An edge as the console sees it. */
export const Edge = z.object({
  id: z.number(),
  name: z.string(),
  connected: z.boolean(),
  version: z.nullable(z.string()),
  wanted: z.number(),
  applied: z.number(),
  /** The first of them, those of the edge itself before others. `name`: of the service, node or domain. */
  problems: z.array(z.extend(Problem, { name: z.nullable(z.string()) })),
  problemCount: z.number(),
  /** Changes wait until someone acts, as one of the problems says. */
  isStuck: z.boolean(),
  dataPlane: z.nullable(DataPlane),
  lastSeen: z.nullable(z.string()),
})
export type Edge = z.infer<typeof Edge>
export const EdgeList = z.array(Edge)
