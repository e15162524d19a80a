import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { inSections } from '@postern/render/resolved-route'
import { findFreePort } from '@postern/testkit/port'
import { fresh } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, test } from 'vitest'
import { makeRealCertificate } from '../../test/certificate.ts'
import { makeLabPort } from '../../test/haproxy-lab.ts'
import { https, listen, route, settled, startWatchLab } from '../../test/watch-lab.ts'

const lab = fresh(() => startWatchLab())

describe('a backend', () => {
  test('that answers its visitors is not probed', async () => {
    const upstream = await listen()
    lab.watch.setRoutes(inSections([route(1, upstream.port)]))
    await lab.trouble(1, 'unchecked')
    lab.messages.length = 0
    for (let i = 0; i < 100; i++) lab.watch.note(1, 'answered')
    await lab.trouble(1, null)
    lab.later += 30_000
    await settled()
    expect(upstream.count).toBe(0)
    expect(lab.messages).toHaveLength(1)
  })

  test('that refused a visitor is in trouble until it accepts a probe', async () => {
    const port = await findFreePort()
    lab.watch.setRoutes(inSections([route(1, port)]))
    lab.watch.note(1, 'failed')
    await lab.trouble(1, 'refused')
    const upstream = await listen(createServer(), port)
    lab.later += 10_000
    await lab.trouble(1, null)
    lab.later += 60_000
    await settled()
    expect(upstream.count).toBe(1)
  })

  test('that refused a visitor is in order as soon as another one gets an answer', async () => {
    lab.watch.setRoutes(inSections([route(1, await findFreePort())]))
    lab.watch.note(1, 'failed')
    await lab.trouble(1, 'refused')
    lab.watch.note(1, 'answered')
    await lab.trouble(1, null)
  })

  test('of a TCP service only gets a connection', async () => {
    const port = await findFreePort()
    lab.watch.setRoutes(inSections([makeLabPort(1, 32660, port)]))
    lab.watch.note(1, 'failed')
    await lab.trouble(1, 'refused')
    // It speaks neither HTTP nor TLS, which is fine.
    const upstream = await listen(createServer(), port)
    lab.later += 60_000
    await lab.trouble(1, null)
    expect(upstream.count).toBe(1)
  })

  test('that fails now and then among its answers is left alone', async () => {
    const upstream = await listen()
    lab.watch.setRoutes(inSections([route(1, upstream.port)]))
    for (let i = 0; i < 1000; i++) lab.watch.note(1, i % 3 === 0 ? 'failed' : 'answered')
    lab.watch.note(1, 'failed')
    await lab.trouble(1, null)
    await settled()
    expect(lab.messages).toHaveLength(2)
    expect(upstream.count).toBeLessThanOrEqual(1)
  })

  test('is recognised by its answer: no TLS, TLS that fails, TLS where there should be none', async () => {
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
    lab.watch.setRoutes(inSections(routes))
    for (const { id, backend } of routes) lab.watch.note(id, backend.proto === 'https' ? 'failed' : 'odd')
    await lab.trouble(1, 'no-tls')
    await lab.trouble(2, 'tls')
    await lab.trouble(4, 'only-tls')
    await lab.trouble(6, 'only-tls')
    await lab.trouble(7, 'tls')
    for (const id of [3, 5]) await lab.trouble(id, null)
  })

  test('of a service that is disabled, changed or gone is forgotten', async () => {
    const port = await findFreePort()
    const upstream = await listen()
    const wanted = [route(1, port), route(2, port), route(3, port), route(4, port)]
    lab.watch.setRoutes(inSections(wanted))
    for (const { id } of wanted) lab.watch.note(id, 'failed')
    for (const { id } of wanted) await lab.trouble(id, 'refused')
    lab.watch.setRoutes(
      inSections([route(1, port, { enabled: false }), route(2, upstream.port), route(4, port)]),
    )
    for (const id of [1, 3]) await lab.trouble(id, null)
    await lab.trouble(2, 'unchecked')
    expect(lab.reported.get(4)).toBe('refused')
    lab.messages.length = 0
    for (const id of [1, 3]) lab.watch.note(id, 'failed')
    await settled()
    expect(lab.messages.flatMap(({ backends }) => backends).filter(({ service }) => service !== 2)).toEqual(
      [],
    )
  })

  test('of a node that is down is not probed until it is up', async () => {
    const upstream = await listen()
    lab.watch.setRoutes(inSections([route(1, upstream.port)]))
    lab.watch.setNodeStates(new Map([[2, 'down']]))
    lab.watch.note(1, 'failed')
    await settled()
    expect(upstream.count).toBe(0)
    lab.watch.setNodeStates(new Map([[2, 'up']]))
    lab.later += 10_000
    await until('the probe', () => upstream.count === 1)
  })
})

describe('a new backend', () => {
  const up = new Map([[2, 'up' as const]])
  const down = new Map([[2, 'down' as const]])

  test('is unchecked before anything is applied, and checked within a moment, without a visitor', async () => {
    const upstream = await listen()
    lab.watch.setNodeStates(up)
    lab.watch.setRoutes(inSections([route(1, upstream.port), route(2, await findFreePort())]))
    expect([...lab.reported]).toEqual([
      [1, 'unchecked'],
      [2, 'unchecked'],
    ])
    await lab.trouble(1, null)
    await lab.trouble(2, 'refused')
    expect(upstream.count).toBe(1)
  })

  test('may refuse the first check while it starts', async () => {
    const port = await findFreePort()
    lab.watch.setNodeStates(up)
    lab.watch.setRoutes(inSections([route(1, port)]))
    await lab.trouble(1, 'unchecked')
    const since = performance.now()
    await until('the first check', () => performance.now() - since > 300)
    await listen(createServer(), port)
    await lab.trouble(1, null)
    expect(lab.messages.flatMap(({ backends }) => backends).map((report) => report.trouble)).toEqual([
      'unchecked',
      null,
    ])
  })

  test('of a service that was saved is checked again where it leads elsewhere', async () => {
    const upstream = await listen()
    lab.watch.setNodeStates(up)
    lab.watch.setRoutes(inSections([route(1, upstream.port)]))
    await lab.trouble(1, null)
    lab.watch.setRoutes(inSections([route(1, upstream.port, { domain: 'renamed.example.com' })]))
    lab.watch.setRoutes(inSections([route(1, await findFreePort())]))
    expect(lab.reported.get(1)).toBe('unchecked')
    await lab.trouble(1, 'refused')
  })

  test('waits for its node, and is checked again each time the node comes back', async () => {
    const upstream = await listen()
    lab.watch.setNodeStates(down)
    lab.watch.setRoutes(inSections([route(1, upstream.port)]))
    await settled()
    expect([lab.reported.get(1), upstream.count]).toEqual(['unchecked', 0])
    lab.watch.setNodeStates(up)
    await lab.trouble(1, null)
    lab.watch.setNodeStates(down)
    lab.watch.setNodeStates(up)
    expect(lab.reported.get(1)).toBe('unchecked')
    await lab.trouble(1, null)
    expect(upstream.count).toBe(2)
  })

  test('of UDP cannot be probed, and nothing is reported for it', async () => {
    lab.watch.setNodeStates(up)
    lab.watch.setRoutes(inSections([{ ...makeLabPort(1, 32661, 53), proto: 'udp' }]))
    await settled()
    expect(lab.reported.size).toBe(0)
  })
})

describe('a backend without visitors', () => {
  test('is found silent within about a minute, and gets at most one connection in that time', async () => {
    const upstream = await listen()
    const port = upstream.port
    lab.watch.setNodeStates(new Map([[2, 'up']]))
    lab.watch.setRoutes(inSections([route(1, port), makeLabPort(2, 32660, port), route(3, port)]))
    for (const id of [1, 2, 3]) await lab.trouble(id, null)
    await settled()
    expect(upstream.count).toBe(3)
    lab.later += 61_000
    lab.watch.note(3, 'answered')
    // For HTTP; a TCP program may take bare connections for an attack, and a visited one needs none.
    await until('the next check', () => upstream.count === 4)
    await settled()
    expect(upstream.count).toBe(4)
    lab.watch.setRoutes(inSections([route(1, port)]))
    expect(lab.reported.get(1)).toBe(null)
  })

  test('that should speak TLS gets only whole handshakes', async () => {
    const { chain, privateKey } = await makeRealCertificate(0, ['x.example.com'])
    const broken: Error[] = []
    let whole = 0
    const server = createTlsServer({ cert: chain, key: privateKey }, () => whole++)
    server.on('tlsClientError', (error) => broken.push(error))
    const upstream = await listen(server)
    lab.watch.setNodeStates(new Map([[2, 'up']]))
    lab.watch.setRoutes(inSections([route(1, upstream.port, https)]))
    await lab.trouble(1, null)
    expect([upstream.count, whole, broken]).toEqual([1, 1, []])
  })
})

test('a server that comes back gets all reports again, including those it missed', async () => {
  lab.watch.setRoutes(inSections([route(1, await findFreePort()), route(2, await findFreePort())]))
  lab.watch.note(1, 'failed')
  await lab.trouble(1, 'refused')
  lab.isServerThere = false
  lab.watch.note(2, 'failed')
  await settled()
  lab.isServerThere = true
  lab.reported.clear()
  lab.messages.length = 0
  lab.watch.onReconnect()
  await lab.trouble(1, 'refused')
  await lab.trouble(2, 'refused')
  expect(lab.messages.map(({ isFirst }) => isFirst)).toEqual([true])
})
