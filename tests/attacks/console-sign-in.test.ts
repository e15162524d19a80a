import { createHmac } from 'node:crypto'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
  PUBLIC_HOST,
} from '../../apps/edge/test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../apps/edge/test/upstream.ts'
import { openSocket, visit } from '../../apps/edge/test/visitor.ts'

const KEY = { id: 'a', secret: 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq' }
const CONSOLE = 'ops.example.com'
const OWN = '127.0.0.1'
const PAGE = { accept: 'text/html' }
const SIGN_IN = { paths: [], expressions: [] }

let server: Upstream
let service: Upstream

const lab = shared(() => makeHaproxyLab({ connectionsPerSource: 4000 }))
beforeAll(async () => {
  service = await startUpstream()
  server = await startUpstream({ path: lab.serverSocket })
  lab.signInKeys = [KEY]
})
afterAll(async () => {
  for (const each of [service, server]) await each.close()
})

/** The console requires sign-in at a domain, whose list has the entries 7 and 6. */
async function demand(domain: string, members = [7, 6]): Promise<void> {
  lab.signIns = [
    { id: 1, domain, members },
    { id: 2, domain: 'b.example.com', members: [8] },
  ]
  const beside = makeLabRoute(3, service.port, { domain: null, path: '/beside' })
  expect(await lab.apply([makeConsoleRoute({ domain, signIn: SIGN_IN }), beside])).toEqual([])
  server.seen.length = service.seen.length = 0
}

function sessionOf(member: string) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 12 * 3600
  const text = `${part({ alg: 'HS256', kid: 'a' })}.${part({ member, email: 'ann@example.com', exp })}`
  return {
    cookie: `__Host-postern=${text}.${createHmac('sha256', KEY.secret).update(text).digest('base64url')}`,
  }
}
const go = (host: string, path: string, headers: Record<string, string> = {}) =>
  visit({ port: lab.httpsPort, host, path, headers })

/** Paths of the console, and spellings that might make them pass for paths of agents. */
const CLOSED = [
  ...['/', '/login', '/nodes', '/nodes/1', '/domains', '/docs', '/docs/sign-in', '/assets/index.js'],
  ...['/api', '/api/nodes', '/api/auth/login', '/api/auth/me', '/api/nodes/stream?token=ptt_x', '/healthz'],
  ...['/api/agentx', '/api/agents/1', '/installx', '/.posternx', '/.well-known/postern/x', '/API/AGENT'],
  ...['/api/agent/../nodes', '/api/agent/..%2fnodes', '/api/agent%2f..%2fnodes', '/api/agent/%2e%2e/nodes'],
  ...['/install/../api/nodes', '//api/nodes', '/install//../api/nodes', '/.postern/../api/nodes'],
  ...[
    '/api/agent;/../nodes',
    '/api/agent/..;/nodes',
    '/api\\agent',
    '/x?/api/agent/',
    '/api/nodes#/api/agent',
  ],
]
const OPEN = [
  ...['/api/agent', '/api/agent/config', '/api/agent/config?x=/../', '/install', '/install/postern.mjs'],
  ...['/.postern/callback?code=1&state=2', '/.postern/sign-in', '/.postern/arrive?ticket=1'],
]

describe.each([
  ['a domain of its own', CONSOLE, [CONSOLE, PUBLIC_HOST, OWN]],
  ['the public host', PUBLIC_HOST, [PUBLIC_HOST, OWN]],
])('a console that requires sign-in at %s', (_, domain, hosts) => {
  beforeAll(() => demand(domain))

  test.each(CLOSED)('answers %j to nobody without a session', async (target) => {
    for (const host of hosts) {
      const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
      const [status] = statusesIn(await sendRaw(lab.httpsPort, head))
      expect([400, 401]).toContain(status)
    }
    expect(server.seen).toEqual([])
  })

  test.each(OPEN)('leaves %j to agents and to the sign-in', async (path) => {
    for (const host of hosts) expect((await go(host, path)).status).toBe(200)
    expect(server.seen.splice(0).map(({ url }) => url)).toEqual(hosts.map(() => path))
  })

  test('sends a page to the sign-in, and tells a program and a WebSocket', async () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
    for (const host of hosts) {
      const page = await go(host, '/nodes?x=1', PAGE)
      expect([page.status, page.headers.location]).toEqual([302, '/.postern/sign-in?to=%2Fnodes%3Fx%3D1'])
      expect(JSON.parse((await go(host, '/api/nodes')).text)).toMatchObject({ code: 'sign_in' })
      expect(
        (await go(host, '/api/x', { ...PAGE, ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }))
          .status,
      ).toBe(401)
      expect(
        (await visit({ port: lab.httpsPort, host, path: '/api/auth/login', method: 'POST' })).status,
      ).toBe(401)
    }
    expect(server.seen).toEqual([])
  })

  test('lets a visitor with a session in, at this host alone', async () => {
    expect((await go(domain, '/nodes', { ...PAGE, ...sessionOf('7') })).status).toBe(200)
    expect(server.seen.splice(0)).toHaveLength(1)
    for (const [host, member] of [
      [domain, '8'],
      [domain, '9'],
      [CONSOLE, '8'],
      [OWN, '7'],
    ] as [string, string][])
      expect((await go(host, '/api/nodes', sessionOf(member))).status).not.toBe(200)
    expect(server.seen).toEqual([])
  })

  test('ends what is open with its entry: a stream of the console, and no agent’s', async () => {
    const open = (path: string, headers = {}) =>
      openSocket({ port: lab.httpsPort, host: domain, path, headers })
    const [ann, bob, agent] = [
      await open('/api/hints', sessionOf('7')),
      await open('/api/hints', sessionOf('6')),
      await open('/api/agent/hints'),
    ]
    await demand(domain, [6])
    await until('the connection to end', () => !ann.isOpen())
    expect((await go(domain, '/', sessionOf('7'))).status).toBe(401)
    for (const each of [bob, agent]) {
      expect(await each.echo('still here')).toBe(true)
      each.close()
    }
    await demand(domain)
  })

  test('leaves services beside it without sign-in and without identity headers', async () => {
    expect((await go(OWN, '/beside', sessionOf('7'))).status).toBe(200)
    expect(service.seen[0]?.headers).not.toHaveProperty('remote-user')
    expect(service.seen[0]?.headers).not.toHaveProperty('cookie')
  })
})
