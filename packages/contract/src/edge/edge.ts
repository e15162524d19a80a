import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'

/** Why a part of the data plane, or one service, does not work as wanted; `message` is for people. */
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

/** `missing`: the program or the right is absent; `failed`: it is present and does not do its job. */
export const PartState = z.object({
  state: z.enum(['ok', 'failed', 'missing']),
  /** The program, like `HAProxy 3.0.11` or `wireguard-go`, or why it is not ok. */
  detail: z.string(),
})
export type PartState = z.infer<typeof PartState>

export const DataPlane = z.object({ haproxy: PartState, wireguard: PartState, nftables: PartState })
export type DataPlane = z.infer<typeof DataPlane>

/** The connection was refused, not accepted in time, or its host cannot be reached; TLS failed, is missing, or is not wanted. */
export const CONNECTION_TROUBLES = ['refused', 'timeout', 'unreachable', 'tls', 'no-tls', 'only-tls'] as const

/** Why a service's backend does not answer. `unchecked`: it has not been asked yet. */
export const BackendTrouble = z.enum(['unchecked', ...CONNECTION_TROUBLES])
export type BackendTrouble = z.infer<typeof BackendTrouble>

/** An edge as the console sees it. */
export const Edge = z.object({
  id: z.number(),
  name: z.string(),
  /** 1: the one beside the server. */
  number: z.number(),
  place: z.nullable(z.string()),
  /** Where nodes reach it; null: the installation's public host. */
  host: z.nullable(z.string()),
  servesConsole: z.boolean(),
  /** Its health address tells visitors to go elsewhere. */
  isDrained: z.boolean(),
  /** A machine has joined as this edge; the one beside the server always has. */
  isJoined: z.boolean(),
  /** Until when a machine can join with the token made last; null: no token waits. */
  joinableUntil: z.nullable(z.string()),
  /** The end of the certificate by which it proves itself; null: it has none. */
  certificateUntil: z.nullable(z.string()),
  updated_at: z.string(),
  connected: z.boolean(),
  version: z.nullable(z.string()),
  wanted: z.number(),
  applied: z.number(),
  /** The first problems, those of the edge itself before others. `name`: of the service, node or domain. */
  problems: z.array(z.extend(Problem, { name: z.nullable(z.string()) })),
  problemCount: z.number(),
  /** Changes wait until someone acts, as one of the problems says. */
  isStuck: z.boolean(),
  dataPlane: z.nullable(DataPlane),
  lastSeen: z.nullable(z.string()),
})
export type Edge = z.infer<typeof Edge>
export const EdgeList = z.array(Edge)
