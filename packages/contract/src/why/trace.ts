import { isIp } from '@postern/net/ip'
import * as z from 'zod/mini'
import { CONNECTION_TROUBLES } from '../edge/edge.ts'
import { LIMITS } from '../limits.ts'

/**
 * What the edge alone can see on the way from a visitor to a program. The server asks about an address of visitors, never
 * about one that is to be dialled: where a service leads the edge knows by itself.
 */

const id = z.int().check(z.positive())
const text = z.string().check(z.maxLength(LIMITS.problemLength))
const port = z.int().check(z.gte(1), z.lte(65_535))
const ms = z.number().check(z.gte(0))
const ip = z.string().check(z.maxLength(45), z.refine(isIp))

/** A blank, `;` or line break would end a command of HAProxy's socket. */
const path = z.string().check(z.regex(/^\/[A-Za-z0-9._~!$&'()*+,=:@%/-]*$/), z.maxLength(LIMITS.tracedPath))
const host = z.string().check(z.regex(/^[a-z0-9.:-]{1,253}$/))

export const TraceQuestion = z.discriminatedUnion('kind', [
  /** `isPlain`: it begins over plain HTTP. */
  z.object({ kind: z.literal('http'), host, path, isPlain: z.boolean() }),
  z.object({ kind: z.literal('port'), proto: z.enum(['tcp', 'udp']), port }),
])
export type TraceQuestion = z.infer<typeof TraceQuestion>

/** Asks the edge to look. `ms`: how long it may take. `node`: it looks into services of this node alone; null: of all. */
export const TraceHint = z.object({
  type: z.literal('trace'),
  id,
  ms: z.int().check(z.gte(1), z.lte(LIMITS.traceMs)),
  question: TraceQuestion,
  visitor: z.nullable(ip),
  node: z.nullable(z.int().check(z.positive())),
})
export type TraceHint = z.infer<typeof TraceHint>

/** Why nothing came of a connection. `silent`: it was taken, and then no answer came in time. `broken`: it was no HTTP. */
const TROUBLES = [...CONNECTION_TROUBLES, 'silent', 'broken'] as const
export type TraceTrouble = (typeof TROUBLES)[number]

/** One thing that the edge saw, in the order in which it looks. */
export const TraceSight = z.discriminatedUnion('step', [
  z.object({
    step: z.literal('port'),
    port,
    /** Why no visitor gets in; null: they do. `held`: by another program. `range`: not of this installation's. */
    closed: z.nullable(z.enum(['refused', 'timeout', 'held', 'range'])),
    /** Another program's firewall. */
    wall: z.nullable(text),
  }),
  z.object({
    step: z.literal('certificate'),
    /** What is served, in PEM; null: nothing, as `problem` says. */
    served: z.nullable(z.string().check(z.maxLength(32_768))),
    /** By the public authorities that programs know. */
    isTrusted: z.boolean(),
    problem: z.nullable(text),
  }),
  z.object({
    step: z.literal('route'),
    /** What the running data plane has for the address; null: nothing. */
    found: z.nullable(
      z.object({
        service: z.int().check(z.positive()),
        node: z.int().check(z.gte(0)),
        /** Of the route that matched, as far as it is known; of a port `/`. */
        path: z.string().check(z.maxLength(256)),
        isDisabled: z.boolean(),
        isConsole: z.boolean(),
      }),
    ),
  }),
  z.object({
    step: z.literal('access'),
    /** Whether the address may come in; `everyone`: there is no list. `unreadable` means no. */
    list: z.enum(['everyone', 'allowed', 'blocked', 'not allowed', 'unreadable', 'unknown visitor']),
    signIn: z.enum(['none', 'needed', 'bypassed']),
  }),
  z.object({
    step: z.literal('tunnel'),
    /** Null: the server's own machine, which needs none. */
    peer: z.nullable(
      z.object({
        isThere: z.boolean(),
        /** ms since the epoch; null: none since the tunnel was made. */
        latestHandshake: z.nullable(z.number()),
        endpoint: z.nullable(z.string().check(z.maxLength(100))),
        /** As the data plane treats it: what is down gets no visitors. */
        isUp: z.boolean(),
      }),
    ),
  }),
  z.object({
    step: z.literal('target'),
    /** Null: there is none that may be dialled. */
    address: z.nullable(ip),
    port: z.nullable(port),
    /** `none`: it was not dialled, since UDP has no connections or it is the server itself. */
    result: z.enum([...TROUBLES, 'connected', 'none', 'no address']),
    ms,
  }),
  z.object({
    step: z.literal('answer'),
    /** Of HTTP. */
    status: z.nullable(z.int().check(z.gte(100), z.lte(999))),
    /** What was asked for. */
    path: z.nullable(z.string().check(z.maxLength(LIMITS.tracedPath))),
    /** `taken`: TCP says no more. `unknown`: UDP. `self`: it is the server that asks. */
    result: z.enum([...TROUBLES, 'answered', 'taken', 'unknown', 'self']),
    ms,
  }),
  /** Nothing more comes; `problem` says why it could not look further. */
  z.object({ step: z.literal('end'), problem: z.nullable(text) }),
])
export type TraceSight = z.infer<typeof TraceSight>
export type SightOf<S extends TraceSight['step']> = Extract<TraceSight, { step: S }>

export const TraceMessage = z.object({ type: z.literal('traced'), id, sight: TraceSight })

/** Whether a visitor comes no further: neither does the edge look on, nor does the server speak of what comes later. */
export function endsTrace(sight: TraceSight): boolean {
  switch (sight.step) {
    case 'port':
      return sight.closed !== null || sight.wall !== null
    case 'certificate':
      return sight.served === null && sight.problem !== null
    case 'route':
      return sight.found === null || sight.found.isDisabled
    case 'access':
      return sight.list === 'blocked' || sight.list === 'not allowed' || sight.list === 'unreadable'
    case 'tunnel':
      return sight.peer !== null && !(sight.peer.isThere && sight.peer.isUp)
    case 'target':
      return sight.result !== 'connected' && sight.result !== 'none'
    case 'answer':
    case 'end':
      return true
  }
}
