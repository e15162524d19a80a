import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { FoundRequests, KeptSearch } from '../requests/kept.ts'
import { TraceHint, TraceMessage } from '../why/trace.ts'
import { BackendTrouble, DataPlane, Problem } from './edge.ts'
import { RESPONSE_BUCKETS } from './response-times.ts'

/** The revision that each part has applied, also when others fail. Nothing waits for a part that is missing. */
export const InForce = z.object({ haproxy: z.number(), wireguard: z.number(), nftables: z.number() })
export type InForce = z.infer<typeof InForce>

const ids = z.array(z.number()).check(z.maxLength(LIMITS.edgePorts))

/** What the edge knows about the ports of TCP and UDP services, besides their problems. */
export const PortFacts = z.object({
  /** UDP services that only visitors with an address of this kind can reach. */
  ipv4Only: ids,
  ipv6Only: ids,
  /** Ports of the range that other programs on the machine hold. */
  held: z.object({ tcp: ids, udp: ids }),
})
export type PortFacts = z.infer<typeof PortFacts>

export const EdgeReport = z.object({
  wanted: z.number(),
  /** The least of `inForce`. */
  applied: z.number(),
  inForce: InForce,
  problems: z.array(Problem).check(z.maxLength(LIMITS.edgeProblems)),
  /** Changes wait until someone acts: one of the problems says why nothing new can be applied. */
  isStuck: z.optional(z.boolean()),
  dataPlane: DataPlane,
  ports: z.optional(PortFacts),
})
export type EdgeReport = z.infer<typeof EdgeReport>

/** One peer as the tunnel shows it. Counters are bytes as the server sees them: `rx` came from the node. */
export const PeerFigures = z.object({
  nodeId: z.int(),
  /** ms since the epoch; null: none since the tunnel was made. */
  latestHandshake: z.nullable(z.int()),
  rx: z.int(),
  tx: z.int(),
  clientIp: z.nullable(z.string()),
  /** Whether the last probe through the tunnel was answered. */
  reachable: z.boolean(),
})
export type PeerFigures = z.infer<typeof PeerFigures>

/** `trouble` null: it answers again. */
export const BackendReport = z.object({ service: z.number(), trouble: z.nullable(BackendTrouble) })
export type BackendReport = z.infer<typeof BackendReport>

/**
 * `seq` grows by one for each line, of whatever service, while the edge runs; `epoch` names that run. `number` counts
 * the lines of this service alone, so that a gap says how many the edge had to drop.
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

/**
 * How an HTTP service answered: its id, how many answers were errors (status 500 and above), and how many came within
 * the time of each bucket (`RESPONSE_BOUNDS`), without zeros at the end.
 */
export const ServiceAnswers = z.tuple([
  z.int().check(z.positive()),
  count,
  z.array(count).check(z.maxLength(RESPONSE_BUCKETS)),
])
export type ServiceAnswers = z.infer<typeof ServiceAnswers>

/** The id of an edge's record of counts; a new one when the record was lost. */
const ledger = z.string().check(z.regex(/^[a-z0-9]{1,32}$/))

const amount = z.number().check(z.gte(0))

/** What a process takes of its machine; null: it may not be looked at. */
export const ProcessVitals = z.object({
  /** ms since the epoch. */
  startedAt: amount,
  cpuSeconds: amount,
  residentBytes: amount,
  openFiles: z.nullable(amount),
  mostOpenFiles: z.nullable(amount),
})
export type ProcessVitals = z.infer<typeof ProcessVitals>

/** By how much an event loop was late, in seconds. */
export const EventLoopDelay = z.object({ median: amount, p99: amount, most: amount })
export type EventLoopDelay = z.infer<typeof EventLoopDelay>

/** What HAProxy says of itself; the totals are since it started. */
export const HaproxyVitals = z.object({
  version: z.string().check(z.maxLength(100)),
  process: z.nullable(ProcessVitals),
  connections: amount,
  mostConnections: amount,
  connectionsTotal: amount,
  requestsTotal: amount,
  tlsConnections: amount,
  tlsConnectionsTotal: amount,
  /** Per second. */
  sessionRate: amount,
  poolBytes: amount,
  /** Of its threads' time: 1 is nothing to do. */
  idleRatio: amount,
})
export type HaproxyVitals = z.infer<typeof HaproxyVitals>

/** A name or a version, as dpkg allows them. */
const packageText = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9.+:~-]{0,99}$/))

/** A package of the edge's machine of which a security update waits. */
export const WaitingUpdate = z.object({ name: packageText, installed: packageText, candidate: packageText })
export type WaitingUpdate = z.infer<typeof WaitingUpdate>
export const WaitingUpdateList = z.array(WaitingUpdate).check(z.maxLength(LIMITS.waitingUpdates))

/** How an edge and its HAProxy are; null: none answers. Older edges do not send what is optional. */
export const EdgeVitals = z.object({
  process: ProcessVitals,
  eventLoop: EventLoopDelay,
  haproxy: z.nullable(HaproxyVitals),
  /** In bytes, of the disk with the edge's files, or that of the kept requests if it has less room; null: unknown. */
  disk: z.optional(z.nullable(z.object({ free: amount, total: amount }))),
  /** Null: nobody has looked since the machine started, as in a container. */
  updates: z.optional(z.nullable(WaitingUpdateList)),
})
export type EdgeVitals = z.infer<typeof EdgeVitals>

/** From the server to the edge: hints and questions, never data. */
export const EdgeHint = z.discriminatedUnion('type', [
  z.object({ type: z.literal('changed'), revision: z.number() }),
  /** The services whose log lines people watch now; for new ones the edge first sends the lines it kept. */
  z.object({ type: z.literal('watch'), services: z.array(z.number()) }),
  /** The counts of this ledger are stored up to this number; the edge need not send them again. */
  z.object({ type: z.literal('counted'), ledger, seq: z.number() }),
  /** What of the requests that the edge keeps? It answers each with one `found`, within seconds. */
  z.extend(KeptSearch, { type: z.literal('search') }),
  /** Nobody waits for the answer to this search any more. */
  z.object({ type: z.literal('forget'), ask: z.number() }),
  /** Only to an edge that said that it `can` trace: it answers with sights, `end` last. */
  TraceHint,
])
export type EdgeHint = z.infer<typeof EdgeHint>

/** From the edge to the server. */
export const EdgeMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    version: z.string(),
    epoch: z.string().check(z.regex(/^[a-z0-9]{1,32}$/)),
    /** What it can do beside what every edge does. */
    can: z.optional(z.array(z.string().check(z.maxLength(32))).check(z.maxLength(32))),
  }),
  z.object({ type: z.literal('report'), report: EdgeReport }),
  z.object({ type: z.literal('peers'), peers: z.array(PeerFigures) }),
  /** `isFirst`: the server forgets all previous reports on backends. A backend that is never named is well. */
  z.object({
    type: z.literal('backends'),
    isFirst: z.boolean(),
    backends: z.array(BackendReport).check(z.maxLength(LIMITS.backendReports)),
  }),
  z.object({ type: z.literal('logs'), lines: z.array(LogLine).check(z.maxLength(LIMITS.logLines)) }),
  z.extend(FoundRequests, { type: z.literal('found') }),
  /**
   * What services carried since the counts before, as of this minute since the epoch. `seq` grows by one within a
   * ledger. The edge sends it again until it gets `counted`; the server stores each `seq` only once.
   */
  z.object({
    type: z.literal('counts'),
    ledger,
    seq: z.int().check(z.positive()),
    minute: z.int().check(z.gte(0)),
    counts: z.array(ServiceCount).check(z.maxLength(LIMITS.serviceCounts)),
    /** Older edges count none, and older servers do not read them. */
    answers: z.optional(z.array(ServiceAnswers).check(z.maxLength(LIMITS.serviceCounts))),
  }),
  z.object({ type: z.literal('vitals'), vitals: EdgeVitals }),
  /** Lines of the edge's own log, each as JSON. */
  z.object({
    type: z.literal('journal'),
    lines: z
      .array(z.string().check(z.maxLength(LIMITS.journalLineLength)))
      .check(z.maxLength(LIMITS.journalLines)),
  }),
  TraceMessage,
])
export type EdgeMessage = z.infer<typeof EdgeMessage>
