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
  test('that answers its visitors is not probed', async () => {
    const upstream = await listen(createServer())
    watch.setRoutes(inSections([route(1, upstream.port)]))
    await trouble(1, 'unchecked')
    messages.length = 0
    for (let i = 0; i < 100; i++) watch.note(1, 'answered')
    await trouble(1, null)
    later += 30_000
    await settled()
    expect(upstream.count).toBe(0)
    expect(messages).toHaveLength(1)
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
    await trouble(1, null)
    await settled()
    expect(messages).toHaveLength(2)
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
    for (const id of [3, 5]) await trouble(id, null)
  })

  test('of a service that is disabled, changed or gone is forgotten', async () => {
    const port = await findFreePort()
    const upstream = await listen(createServer())
    const wanted = [route(1, port), route(2, port), route(3, port), route(4, port)]
    watch.setRoutes(inSections(wanted))
    for (const { id } of wanted) watch.note(id, 'failed')
    for (const { id } of wanted) await trouble(id, 'refused')
    watch.setRoutes(inSections([route(1, port, { enabled: false }), route(2, upstream.port), route(4, port)]))
    for (const id of [1, 3]) await trouble(id, null)
    await trouble(2, 'unchecked')
    expect(told.get(4)).toBe('refused')
    messages.length = 0
    for (const id of [1, 3]) watch.note(id, 'failed')
    await settled()
    expect(messages.flatMap(({ backends }) => backends).filter(({ service }) => service !== 2)).toEqual([])
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

describe('a new backend', () => {
  const up = new Map([[2, 'up' as const]])
  const down = new Map([[2, 'down' as const]])

  test('is unchecked before anything is applied, and answers or not within a moment, without a visitor', async () => {
    const upstream = await listen(createServer())
    watch.setNodeStates(up)
    watch.setRoutes(inSections([route(1, upstream.port), route(2, await findFreePort())]))
    expect([...told]).toEqual([
      [1, 'unchecked'],
      [2, 'unchecked'],
    ])
    await trouble(1, null)
    await trouble(2, 'refused')
    expect(upstream.count).toBe(1)
  })

  test('may refuse the first check while it starts', async () => {
    const port = await findFreePort()
    watch.setNodeStates(up)
    watch.setRoutes(inSections([route(1, port)]))
    await trouble(1, 'unchecked')
    const since = performance.now()
    await until('the first check', () => performance.now() - since > 300)
    await listen(createServer(), port)
    await trouble(1, null)
    expect(messages.flatMap(({ backends }) => backends).map((report) => report.trouble)).toEqual([
      'unchecked',
      null,
    ])
  })

  test('of a service that was saved is checked again where it leads elsewhere', async () => {
    const upstream = await listen(createServer())
    watch.setNodeStates(up)
    watch.setRoutes(inSections([route(1, upstream.port)]))
    await trouble(1, null)
    watch.setRoutes(inSections([route(1, upstream.port, { domain: 'renamed.example.com' })]))
    watch.setRoutes(inSections([route(1, await findFreePort())]))
    expect(told.get(1)).toBe('unchecked')
    await trouble(1, 'refused')
  })

  test('waits for its node, and is checked again each time that comes back', async () => {
    const upstream = await listen(createServer())
    watch.setNodeStates(down)
    watch.setRoutes(inSections([route(1, upstream.port)]))
    await settled()
    expect([told.get(1), upstream.count]).toEqual(['unchecked', 0])
    watch.setNodeStates(up)
    await trouble(1, null)
    watch.setNodeStates(down)
    watch.setNodeStates(up)
    expect(told.get(1)).toBe('unchecked')
    await trouble(1, null)
    expect(upstream.count).toBe(2)
  })

  test('of UDP cannot be probed, and nothing is said of it', async () => {
    watch.setNodeStates(up)
    watch.setRoutes(inSections([{ ...makeLabPort(1, 32661, 53), proto: 'udp' }]))
    await settled()
    expect(told.size).toBe(0)
  })
})

describe('a backend without visitors', () => {
  test('is found silent within about a minute, and gets no more than one connection in it', async () => {
    const upstream = await listen(createServer())
    const port = upstream.port
    watch.setNodeStates(new Map([[2, 'up']]))
    watch.setRoutes(inSections([route(1, port), makeLabPort(2, 32660, port), route(3, port)]))
    for (const id of [1, 2, 3]) await trouble(id, null)
    await settled()
    expect(upstream.count).toBe(3)
    later += 61_000
    watch.note(3, 'answered')
    // One of HTTP; a TCP program may take bare connections for an attack, and one that is visited needs none.
    await until('the next check', () => upstream.count === 4)
    await settled()
    expect(upstream.count).toBe(4)
    watch.setRoutes(inSections([route(1, port)]))
    expect(told.get(1)).toBe(null)
  })

  test('that should speak TLS gets whole handshakes only', async () => {
    const { chain, privateKey } = await makeRealCertificate(0, ['x.example.com'])
    const broken: Error[] = []
    let whole = 0
    const server = createTlsServer({ cert: chain, key: privateKey }, () => whole++)
    server.on('tlsClientError', (error) => broken.push(error))
    const upstream = await listen(server)
    watch.setNodeStates(new Map([[2, 'up']]))
    watch.setRoutes(inSections([route(1, upstream.port, https)]))
    await trouble(1, null)
    expect([upstream.count, whole, broken]).toEqual([1, 1, []])
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
    const onNode = (id: number) => ({ node: { kind: 'plain' as const, id, address4: '10.64.0.9' } })
    const muteRoutes = Array.from({ length: 200 }, (_, i) =>
      route(i + 1, mute.port, { ...https, ...onNode(10 + (i % 8)) }),
    )
    const routes = [
      ...muteRoutes,
      ...Array.from({ length: 2500 }, (_, i) => route(i + 1000, refusing, onNode(10 + (i % 8)))),
    ]
    watch.setRoutes(inSections(routes))
    for (const { id } of routes.slice(200)) watch.note(id, 'failed')
    await until(
      'all to be told of',
      () => [...told.values()].filter((what) => what === 'refused').length === 2500,
    )
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

  test('the silent ones of one node take no more than their share', async () => {
    const mute = await listen(createServer())
    const upstream = await listen(createServer())
    const states = new Map([
      [2, 'up' as const],
      [3, 'up' as const],
    ])
    const other = route(999, upstream.port, { node: { kind: 'plain', id: 3, address4: '10.64.0.3' } })
    watch.setNodeStates(states)
    const silent = Array.from({ length: 900 }, (_, i) => route(i + 1, mute.port, https))
    watch.setRoutes(inSections([...silent, other]))
    await trouble(999, null)
    expect(mute.open.size).toBeLessThanOrEqual(16)
  })

  test('20,000 new ones are probed few at a time, and idle ones no faster than 50 a second', async () => {
    let [open, most, probes] = [0, 0, 0]
    watch.close()
    watch = createBackendWatch({
      now: () => Date.now() + later,
      send: (_, backends) => {
        for (const { service, trouble } of backends) told.set(service, trouble)
        return true
      },
      async probe() {
        most = Math.max(most, ++open)
        probes++
        await new Promise((resolve) => setTimeout(resolve, 20))
        open--
        return null
      },
    })
    watch.setNodeStates(new Map(Array.from({ length: 10_000 }, (_, i) => [i, 'up'])))
    const node = (i: number) => ({ kind: 'plain' as const, id: i % 10_000, address4: '10.64.0.9' })
    const routes = Array.from({ length: 20_000 }, (_, i) => route(i + 1, 80, { node: node(i) }))
    const cost = await costMs(() => watch.setRoutes(inSections(routes)))
    expect(cost).toBeLessThan(2000)
    await settled()
    expect(probes).toBeLessThan(20 * 30)
    for (const { id } of routes) watch.note(id, 'answered')
    later += 61_000
    const before = probes
    await settled()
    expect(probes - before).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(64)
  })

  test('one that a person saves does not wait behind them', async () => {
    let probes = 0
    watch.close()
    watch = createBackendWatch({
      now: () => Date.now() + later,
      send: (_, backends) => {
        for (const { service, trouble } of backends) told.set(service, trouble)
        return true
      },
      async probe({ port }) {
        probes++
        await new Promise((resolve) => setTimeout(resolve, 20))
        return port === 80 ? 'refused' : null
      },
    })
    watch.setNodeStates(new Map([[2, 'up']]))
    const many = Array.from({ length: 20_000 }, (_, i) => route(i + 1, 80))
    watch.setRoutes(inSections(many))
    await until('the first probes', () => probes > 40)
    watch.setRoutes(inSections([...many, route(20_001, 81)]))
    await trouble(20_001, null)
    expect(probes).toBeLessThan(2000)
  })
})
