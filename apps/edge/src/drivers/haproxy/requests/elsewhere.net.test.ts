import type { FarServers } from '@postern/render/haproxy/options'
import {
  type EdgesAuthority,
  edgeLeaf,
  makeEdgesAuthority,
  type Proof,
  SERVER_LEAF,
} from '@postern/testkit/authority/edges-authority'
import { findFreePort } from '@postern/testkit/port'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
  PUBLIC_HOST,
} from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { openSocket, visit, visitPlain } from '../../../../test/visitor.ts'

const HOST = 'a.example.com'
const PROOF = `/.well-known/postern/${'0f'.repeat(16)}`

let authority: EdgesAuthority
let edge: Proof
let far: FarServers
const servers: Upstream[] = []

const upstream = shared(() => startUpstream())
const lab: HaproxyLab = shared(() => makeHaproxyLab({ findFarServers: async () => far }))
beforeAll(async () => {
  authority = await makeEdgesAuthority()
  edge = await authority.issue(edgeLeaf(2))
})
beforeEach(() => {
  lab.edge = { number: 2, servesConsole: true, isDrained: false }
  lab.signIns = []
})
afterEach(async () => {
  for (const each of servers.splice(0)) await each.close()
})

async function startServer(proof?: Proof): Promise<Upstream> {
  const { certificate, key } = proof ?? (await authority.issue(SERVER_LEAF))
  const tls = { id: 0, domains: [], chain: certificate, privateKey: key }
  const server = await startUpstream({ tls, clients: authority.root })
  servers.push(server)
  return server
}

/** Makes HAProxy lead to servers at these ports. */
async function leadTo(...ports: number[]): Promise<void> {
  far = {
    addresses: ports.map((port) => ({ host: '127.0.0.1', port })),
    root: authority.root,
    name: 'server.postern.internal',
    proof: edge.certificate + edge.key,
  }
  expect(await lab.apply(routes())).toEqual([])
}
let hasConsole = true
const routes = () => [
  ...(hasConsole ? [makeConsoleRoute()] : []),
  makeLabRoute(2, upstream.port, { domain: HOST, signIn: { paths: [], expressions: [] } }),
  makeLabRoute(3, upstream.port, { domain: null, path: '/tool' }),
]
const go = (path: string, more: Partial<Parameters<typeof visit>[0]> = {}) =>
  visit({ port: lab.httpsPort, host: PUBLIC_HOST, path, ...more })
const isUp = () => until('the server to be up', async () => (await go('/api/health')).status === 200)

test('console and API are the server, which sees the visitor and which edge it is', async () => {
  const server = await startServer()
  await leadTo(server.port)
  await isUp()
  server.seen.length = 0
  expect((await go('/nodes', { from: '127.0.0.9' })).status).toBe(200)
  const posted = { method: 'POST', body: '{"name":"x"}', headers: { 'content-type': 'application/json' } }
  expect((await go('/api/nodes', { ...posted, from: '127.0.0.9' })).status).toBe(200)
  expect(server.seen.map(({ method, url }) => [method, url])).toEqual([
    ['GET', '/nodes'],
    ['POST', '/api/nodes'],
  ])
  for (const { headers, client } of server.seen) {
    expect(headers).toMatchObject({
      host: PUBLIC_HOST,
      'x-forwarded-for': '127.0.0.9',
      'x-forwarded-proto': 'https',
    })
    expect(client).toBe('URI:postern:edge:2')
  }
})

test('a WebSocket reaches the server, and a service beside the console stays a service', async () => {
  const server = await startServer()
  await leadTo(server.port)
  await isUp()
  const socket = await openSocket({ port: lab.httpsPort, host: PUBLIC_HOST, path: '/api/agent/socket' })
  expect(await socket.echo('hello')).toBe(true)
  socket.close()
  expect(server.upgrades.map(({ url }) => url)).toEqual(['/api/agent/socket'])
  upstream.seen.length = 0
  expect((await go('/tool/x')).status).toBe(200)
  expect(upstream.seen.map(({ url }) => url)).toEqual(['/tool/x'])
})

test('the proof of a domain comes from the server, without the rest of the request', async () => {
  const server = await startServer()
  await leadTo(server.port)
  await isUp()
  server.seen.length = 0
  const headers = { cookie: 'token=pts_x', 'x-forwarded-for': '127.0.0.5' }
  expect(
    (await visitPlain({ port: lab.httpPort, host: 'new.example.com', path: PROOF, headers })).status,
  ).toBe(200)
  expect(server.seen.map(({ url }) => url)).toEqual([PROOF])
  expect(server.seen[0]?.headers).toEqual({ host: 'localhost', 'x-forwarded-for': '127.0.0.1' })
})

const strangers: [string, () => Promise<Proof>][] = [
  ['of another authority', async () => (await makeEdgesAuthority()).issue(SERVER_LEAF)],
  ['that is an edge', () => authority.issue(edgeLeaf(3))],
  ["that is an edge with a server's name", () => authority.issue({ ...SERVER_LEAF, use: 'clientAuth' })],
  [
    'of another name',
    () => authority.issue({ use: 'serverAuth', names: 'DNS:console.example.com,IP:127.0.0.1' }),
  ],
  ['whose certificate has expired', () => authority.issue({ ...SERVER_LEAF, days: -1 })],
]
test.each(strangers)('a server %s gets no request', async (_, proof) => {
  const stranger = await startServer(await proof())
  await leadTo(stranger.port)
  const posted = { method: 'POST', body: 'name=x', headers: { authorization: 'Bearer pts_x' } }
  for (let tries = 0; tries < 3; tries++) {
    expect((await go('/api/nodes')).status).toBe(503)
    expect((await go('/api/login', posted)).status).toBe(503)
  }
  expect((await visitPlain({ port: lab.httpPort, host: HOST, path: PROOF })).status).toBe(503)
  expect(stranger.seen).toEqual([])
})

test('services go on while no server answers', async () => {
  const port = await findFreePort()
  await leadTo(port)
  expect((await go('/tool/x')).status).toBe(200)
  expect((await go('/nodes')).status).toBe(503)
})

test('with several servers each request finds one that answers, the same one for a network', async () => {
  const [one, two] = [await startServer(), await startServer()]
  await leadTo(await findFreePort(), one.port, two.port)
  await isUp()
  one.seen.length = two.seen.length = 0
  const asked = Array.from({ length: 20 }, (_, index) => go(`/nodes?${index}`, { from: '127.0.0.9' }))
  for (const { status } of await Promise.all(asked)) expect(status).toBe(200)
  expect([one.seen.length, two.seen.length].sort()).toEqual([0, 20])
  const first = one.seen.length > 0 ? one : two
  await first.close()
  servers.splice(servers.indexOf(first), 1)
  await until('the other one', async () => (await go('/nodes', { from: '127.0.0.9' })).status === 200)
})

describe.each([
  ['has a route of it', true],
  ['has none', false],
])('an edge that passes no console on, and %s,', (_, has) => {
  afterAll(() => {
    hasConsole = true
  })
  beforeEach(() => {
    hasConsole = has
    lab.edge = { number: 2, servesConsole: false, isDrained: false }
    lab.signIns = [{ id: 1, domain: HOST, members: [7] }]
  })

  test('says so where the console would be, and the server hears nothing', async () => {
    const server = await startServer()
    await leadTo(server.port)
    const posted = {
      method: 'POST',
      body: '{"password":"x"}',
      headers: { 'content-type': 'application/json' },
    }
    for (const path of [
      '/',
      '/nodes',
      '/login',
      '/api/nodes',
      '/api/agent/config',
      '/install/ca.crt',
      '/docs',
    ]) {
      const answer = await go(path)
      expect([path, answer.status]).toEqual([path, 421])
      expect(answer.text).toContain('The console is not at this address')
    }
    expect((await go('/api/login', posted)).status).toBe(421)
    await expect(
      openSocket({ port: lab.httpsPort, host: PUBLIC_HOST, path: '/api/agent/socket' }),
    ).rejects.toThrow('421')
    expect([server.seen, server.upgrades]).toEqual([[], []])
    expect((await go('/tool/x')).status).toBe(200)
    await until('the log of the service', () => lab.logs.some(({ service }) => service === 3))
    expect(lab.logs.filter(({ service }) => service === 0)).toEqual([])
  })

  test('lets visitors of services sign in, and come back from the provider', async () => {
    const server = await startServer()
    await leadTo(server.port)
    await until('the server', async () => (await go('/.postern/sign-in', { host: HOST })).status === 200)
    server.seen.length = 0
    expect((await go('/x', { host: HOST, headers: { accept: 'text/html' } })).status).toBe(302)
    expect((await go('/.postern/arrive?ticket=x', { host: HOST })).status).toBe(200)
    expect((await go('/.postern/callback?code=x')).status).toBe(200)
    expect(server.seen.map(({ url }) => url)).toEqual([
      '/.postern/arrive?ticket=x',
      '/.postern/callback?code=x',
    ])
  })

  test('passes the console on again when it is told to', async () => {
    const server = await startServer()
    await leadTo(server.port)
    expect((await go('/nodes')).status).toBe(421)
    const pid = await lab.pid()
    lab.edge = { number: 2, servesConsole: true, isDrained: false }
    hasConsole = true
    await lab.apply(routes(), [], true)
    await isUp()
    expect(await lab.pid()).toBe(pid)
  })
})

test('a renewed certificate is shown from then on', async () => {
  const server = await startServer()
  await leadTo(server.port)
  await isUp()
  edge = await authority.issue(edgeLeaf(9))
  await leadTo(server.port)
  server.seen.length = 0
  await until('the other certificate', async () => {
    await go('/nodes')
    return server.seen.at(-1)?.client === 'URI:postern:edge:9'
  })
})
