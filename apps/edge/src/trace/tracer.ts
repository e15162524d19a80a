import type { Peer, TunnelSettings } from '@postern/contract/edge/desired-state'
import { endsTrace, type TraceHint, TraceSight } from '@postern/contract/why/trace'
import { messageOf } from '@postern/host/errors'
import type { RouteSections } from '@postern/render/resolved-route'
import type { Around, TracerOptions } from './around.ts'
import { type Found, findOnPort, findOnWeb, isOwnHost } from './find.ts'
import * as look from './looks.ts'

/** Looks at the way of one visitor, for somebody who asks why. Nothing is dialled but the target of a service. */
export interface Tracer {
  setState(state: {
    peers: readonly Peer[]
    settings: Pick<TunnelSettings, 'publicHost' | 'formerHosts'>
  }): void
  /** The routes that the data plane has. */
  setRoutes(routes: RouteSections): void
  trace(hint: TraceHint): void
}

/** Under way at the same time. */
const AT_ONCE = 4

export function createTracer(options: TracerOptions): Tracer {
  let peers: readonly Peer[] = []
  let publicHost = ''
  let formerHosts: readonly string[] = []
  let routes: RouteSections = new Map()
  let underWay = 0

  const run = async (hint: TraceHint) => {
    const until = performance.now() + hint.ms
    const left = () => Math.max(1, Math.ceil(until - performance.now()))
    const around: Around = { ...options, peers, publicHost, formerHosts, routes, left }
    let problem: string | null = null
    try {
      for await (const seen of looks(hint, around)) {
        // A HAProxy that was taken over may say anything, and the server ends a connection with what is not as agreed.
        const { data: sight } = TraceSight.safeParse(seen)
        if (!sight) throw new Error('HAProxy answered something that cannot be.')
        options.send({ type: 'traced', id: hint.id, sight })
        if (endsTrace(sight)) break
      }
    } catch (err) {
      options.log.warn({ err }, 'the way of a visitor could not be looked at')
      problem = messageOf(err).slice(0, 300)
    }
    options.send({ type: 'traced', id: hint.id, sight: { step: 'end', problem } })
  }

  return {
    setState(state) {
      peers = state.peers
      publicHost = state.settings.publicHost.toLowerCase()
      formerHosts = state.settings.formerHosts
    },
    setRoutes(next) {
      routes = next
    },
    trace(hint) {
      if (underWay >= AT_ONCE) {
        const problem = 'The edge is looking at other addresses. Try again in a moment.'
        options.send({ type: 'traced', id: hint.id, sight: { step: 'end', problem } })
        return
      }
      underWay++
      void run(hint).finally(() => underWay--)
    },
  }
}

/** The sights in their order; whoever takes them stops at the first that ends a visitor's way. */
async function* looks(hint: TraceHint, around: Around): AsyncGenerator<TraceSight> {
  const { question, visitor, node } = hint
  const isWeb = question.kind === 'http'
  yield isWeb ? await look.atWebPorts(question.isPlain, around) : look.atPort(question, around)
  const found = isWeb ? await findOnWeb(question, around) : await findOnPort(question, around)
  const name = isWeb ? question.host : (found?.tlsName ?? null)
  if (isWeb || found?.isTls) yield await look.atCertificate(name, isOwnHost(name ?? '', around), around)
  yield { step: 'route', found: found ? routeOf(found) : null }
  // Of a service of another node not even its state is anybody's business.
  if (!found || (node !== null && found.node !== node)) return
  yield await look.atAccess(found, isWeb ? question.path : '/', visitor, around)
  yield await look.atTunnel(found, around)
  const target = await look.atTarget(found, around)
  yield target
  yield await look.atAnswer(found, question, visitor, target.address, around)
}

function routeOf({ service, node, path, isDisabled, isConsole }: Found) {
  return { service, node, path, isDisabled, isConsole }
}
