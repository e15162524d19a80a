import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { BackendReport, BackendTrouble } from '@postern/contract/edge'
import { inSections, type ResolvedHttpRoute } from '@postern/render/resolved-route'
import { findFreePort } from '@postern/testkit/port'
import { costMs } from '@postern/testkit/time'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeRealCertificate } from '../../test/certificate.ts'
import { makeRoute } from '../../test/factories.ts'
import { makeLabPort } from '../../test/haproxy-lab.ts'
import { type BackendWatch, createBackendWatch } from './backends.ts'

let watch: BackendWatch
/** What the server was told, by service. */
let told: Map<number, BackendTrouble | null>
let messages: { isFirst: boolean; backends: BackendReport[] }[]
let isServerThere: boolean
/** Added to the clock, to make what is due later due now. */
let later: number

beforeEach(() => {
  told = new Map()
  messages = []
  isServerThere = true
  later = 0
  watch = createBackendWatch({
    now: () => Date.now() + later,
    send(isFirst, backends) {
      if (!isServerThere) return false
      messages.push({ isFirst, backends })
      for (const { service, trouble } of backends) told.set(service, trouble)
      return true
    },
  })
})
afterEach(() => watch.close())

function route(id: number, port: number, changes: Partial<ResolvedHttpRoute> = {}): ResolvedHttpRoute {
  const { proto = 'http' } = changes.backend ?? {}
  return { ...makeRoute(id), address: '127.0.0.1', ...changes, backend: { proto, host: null, port } }
}
const https = { backend: { proto: 'https' as const, host: null, port: 0 } }

/** A TCP server and the connections that it has taken. */
async function listen(server: Server, port = 0): Promise<{ port: number; open: Set<Socket>; count: number }> {
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

const trouble = (service: number, what: BackendTrouble | null) =>
  until(`${what} of ${service}`, () => told.has(service) && told.get(service) === what)

/** Until what was noted has been looked at, and what there was to say has been said. */
async function settled(): Promise<void> {
  const since = performance.now()
  await until('a while', () => performance.now() - since > 1200)
}

describe('a backend', () => {
  test('that answers its visitors is never probed', async () => {
    const upstream = await listen(createServer())
    watch.setRoutes(inSections([route(1, upstream.port)]))
    for (let i = 0; i < 100; i++) watch.note(1, 'answered')
    await settled()
    expect(upstream.count).toBe(0)
    expect(messages).toEqual([])
  })

  test('that refused a visitor is in trouble until a probe is taken', async () => {
    const port = await findFreePort()
    watch.setRoutes(inSections([route(1, port)]))
    watch.note(1, 'failed')
    await trouble(1, 'refused')
    const upstream = await listen(createServer(), port)
    later += 10_000
    await trouble(1, null)
    later += 60_000
    await settled()
    expect(upstream.count).toBe(1)
  })

  test('that refused a visitor is in order as soon as another one gets an answer', async () => {
    watch.setRoutes(inSections([route(1, await findFreePort())]))
    watch.note(1, 'failed')
    await trouble(1, 'refused')
    watch.note(1, 'answered')
    await trouble(1, null)
  })

  test('of a TCP service is only asked for a connection', async () => {
    const port = await findFreePort()
    watch.setRoutes(inSections([makeLabPort(1, 32660, port)]))
    watch.note(1, 'failed')
    await trouble(1, 'refused')
    // It speaks neither HTTP nor TLS, and that is its own matter.
    const upstream = await listen(createServer(), port)
    later += 60_000
    await trouble(1, null)
    expect(upstream.count).toBe(1)
  })

  test('that fails now and then among its answers is left alone', async () => {
    const upstream = await listen(createServer())
    watch.setRoutes(inSections([route(1, upstream.port)]))
    for (let i = 0; i < 1000; i++) watch.note(1, i % 3 === 0 ? 'failed' : 'answered')
    watch.note(1, 'failed')
    await settled()
    expect(messages).toEqual([])
    expect(upstream.count).toBeLessThanOrEqual(1)
  })

  test('is told by its words: no TLS, TLS that fails, TLS where there should be none', async () => {
    const plain = await listen(createHttpServer())
    const closing = await listen(createServer((socket) => socket.destroy()))
    const { chain, privateKey } = await makeRealCertificate(0, ['x.example.com'])
    const tls = await listen(createTlsServer({ cert: chain, key: privateKey }))
    const old = await listen(createTlsServer({ cert: chain, key: privateKey, maxVersion: 'TLSv1.1' }))
    const routes = [
      route(1, plain.port, https),
      route(2, closing.port, https),
      route(3, tls.port, https),
      route(4, tls.port),
      route(5, plain.port),
      route(6, old.port),
      route(7, old.port, https),
    ]
    watch.setRoutes(inSections(routes))
    for (const { id, backend } of routes) watch.note(id, backend.proto === 'https' ? 'failed' : 'odd')
    await trouble(1, 'no-tls')
    await trouble(2, 'tls')
    await trouble(4, 'only-tls')
    await trouble(6, 'only-tls')
    await trouble(7, 'tls')
    expect([told.has(3), told.has(5)]).toEqual([false, false])
  })

  test('of a service that is disabled, changed or gone is forgotten', async () => {
    const port = await findFreePort()
    const upstream = await listen(createServer())
    const wanted = [route(1, port), route(2, port), route(3, port), route(4, port)]
    watch.setRoutes(inSections(wanted))
    for (const { id } of wanted) watch.note(id, 'failed')
    for (const { id } of wanted) await trouble(id, 'refused')
    watch.setRoutes(inSections([route(1, port, { enabled: false }), route(2, upstream.port), route(4, port)]))
    for (const id of [1, 2, 3]) await trouble(id, null)
    expect(told.get(4)).toBe('refused')
    messages.length = 0
    for (const id of [1, 3]) watch.note(id, 'failed')
    await settled()
    expect(messages).toEqual([])
  })

  test('of a node that is down is not probed until it is up', async () => {
    const upstream = await listen(createServer())
    watch.setRoutes(inSections([route(1, upstream.port)]))
    watch.setNodeStates(new Map([[2, 'down']]))
    watch.note(1, 'failed')
    await settled()
    expect(upstream.count).toBe(0)
    watch.setNodeStates(new Map([[2, 'up']]))
    later += 10_000
    await until('the probe', () => upstream.count === 1)
  })
})

test('a server that comes back is told all of it again, and what was lost meanwhile', async () => {
  watch.setRoutes(inSections([route(1, await findFreePort()), route(2, await findFreePort())]))
  watch.note(1, 'failed')
  await trouble(1, 'refused')
  isServerThere = false
  watch.note(2, 'failed')
  await settled()
  isServerThere = true
  told.clear()
  messages.length = 0
  watch.onReconnect()
  await trouble(1, 'refused')
  await trouble(2, 'refused')
  expect(messages.map(({ isFirst }) => isFirst)).toEqual([true])
})

describe('of many thousands', () => {
  test('few are probed at the same time, and reports are few and short', async () => {
    const mute = await listen(createServer())
    const refusing = await findFreePort()
    const muteRoutes = Array.from({ length: 200 }, (_, i) => route(i + 1, mute.port, https))
    const routes = [...muteRoutes, ...Array.from({ length: 2500 }, (_, i) => route(i + 1000, refusing))]
    watch.setRoutes(inSections(routes))
    for (const { id } of routes.slice(200)) watch.note(id, 'failed')
    await until('all to be told of', () => told.size === 2500)
    expect(Math.max(...messages.map(({ backends }) => backends.length))).toBeLessThanOrEqual(1000)
    expect(messages.length).toBeLessThan(60)
    watch.setRoutes(inSections(muteRoutes))
    for (const { id } of muteRoutes) watch.note(id, 'failed')
    await until('the first probes', () => mute.open.size > 32)
    const most = mute.open.size
    await settled()
    expect(Math.max(most, mute.open.size)).toBeLessThanOrEqual(64)
  })

  test('a line of one that answers costs next to nothing', async () => {
    const port = await findFreePort()
    watch.setRoutes(inSections(Array.from({ length: 20_000 }, (_, i) => route(i + 1, port))))
    watch.note(1, 'failed')
    const cost = await costMs(() => {
      for (let i = 0; i < 1_000_000; i++) watch.note((i % 20_000) + 2, 'answered')
    })
    // A microsecond each.
    expect(cost).toBeLessThan(1000)
  })
})
