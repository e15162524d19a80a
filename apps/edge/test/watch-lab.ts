import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { BackendTrouble } from '@postern/contract/edge/edge'
import type { BackendReport } from '@postern/contract/edge/edge-messages'
import type { ResolvedHttpRoute } from '@postern/render/resolved-route'
import { until } from '@postern/testkit/until'
import { onTestFinished } from 'vitest'
import { createBackendWatch } from '../src/observe/backends.ts'
import { makeRoute } from './factories.ts'

type Probe = Parameters<typeof createBackendWatch>[0]['probe']

/** A watch of backends, and what it tells the server. */
export function startWatchLab(probe?: Probe) {
  const reported = new Map<number, BackendTrouble | null>()
  const messages: { isFirst: boolean; backends: BackendReport[] }[] = []
  const lab = {
    /** What the server was told, by service. */
    reported,
    messages,
    isServerThere: true,
    /** Added to the clock, to make what is due later due now. */
    later: 0,
  }
  const watch = createBackendWatch({
    now: () => Date.now() + lab.later,
    send(isFirst, backends) {
      if (!lab.isServerThere) return false
      messages.push({ isFirst, backends })
      for (const { service, trouble } of backends) reported.set(service, trouble)
      return true
    },
    ...(probe && { probe }),
  })
  const trouble = (service: number, what: BackendTrouble | null) =>
    until(`${what} of ${service}`, () => reported.has(service) && reported.get(service) === what)
  return Object.assign(lab, { watch, trouble, close: () => watch.close() })
}

export function route(id: number, port: number, changes: Partial<ResolvedHttpRoute> = {}): ResolvedHttpRoute {
  const { proto = 'http' } = changes.backend ?? {}
  return { ...makeRoute(id), address: '127.0.0.1', ...changes, backend: { proto, host: null, port } }
}
export const https = { backend: { proto: 'https' as const, host: null, port: 0 } }

/** A TCP server and the connections that it has taken. */
export async function listen(server: Server = createServer(), port = 0) {
  const upstream = { port, open: new Set<Socket>(), count: 0 }
  server.on('connection', (socket: Socket) => {
    upstream.count++
    upstream.open.add(socket)
    socket.on('error', () => undefined).on('close', () => upstream.open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  upstream.port = (server.address() as AddressInfo).port // a server on a port has one
  onTestFinished(() => {
    for (const socket of upstream.open) socket.destroy()
    server.close()
  })
  return upstream
}

/** Until what was noted has been looked at, and what there was to say has been said. */
export async function settled(): Promise<void> {
  const since = performance.now()
  await until('a while', () => performance.now() - since > 1200)
}
