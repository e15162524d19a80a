import { once } from 'node:events'
import { connect } from 'node:net'
import type { Problem } from '@postern/contract/edge/edge'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import {
  addEdgeMachine,
  askControl,
  connectControl,
  type EdgeMachine,
  makeRequest,
  openEdgeSocket,
  startServerForEdges,
} from '@postern/testkit/edge-machine'
import { TEST_ADMIN } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { expect, it, test } from 'vitest'
import { createEdgesAuthority, findRequestedKey } from '../certificates/edges-authority.ts'
import { openControl } from '../control.ts'
import { openDatabase } from '../db/open.ts'

const server = shared(() => startServerForEdges())
const client = shared(() => server.signIn())
const plain = shared(() => addEdgeMachine(server, { name: 'plain' }))
const withConsole = shared(() => addEdgeMachine(server, { name: 'with console', servesConsole: true }))

const STATE = { path: endpoints.edgeState.path, body: { known: {} } }
const VISITOR = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https', host: '203.0.113.1' }
const refusal = (asking: Promise<unknown>) =>
  asking.then(
    () => 'answered',
    (error: Error) => error.message,
  )

it('talks to nobody without a certificate of its own authority', async () => {
  const { root } = plain
  const other = await otherAuthority()
  for (const papers of [{ root }, { ...(await other.issue(plain.joined.edgeId)), root }])
    expect(await refusal(askControl(server, papers, STATE))).toMatch(/alert|hang up|ECONNRESET|EPIPE/)
})

it('talks to nobody whose certificate the installation has signed for a domain, or for the port itself', async () => {
  const { root } = plain
  const leaf = await server.context.authority.issue(['app.example.com'])
  const own = await server.context.edgesAuthority.issueServer()
  for (const { certificate, privateKey } of [leaf, own])
    expect(await refusal(askControl(server, { root, certificate, privateKey }, STATE))).toMatch(
      /alert|hang up|ECONNRESET|EPIPE/,
    )
})

it('proves itself to edges by its own root and name, and not by that of domains', async () => {
  expect((await askControl(server, plain, STATE)).status).toBe(200)
  const { certificate: root } = server.context.authority
  expect(await refusal(askControl(server, { ...plain, root }, STATE))).toMatch(/unable to|self.signed/)
})

it('refuses a certificate of a removed edge at once, and ends what it has open', async () => {
  const gone = await addEdgeMachine(server, { name: 'gone' })
  const socket = await openEdgeSocket(server, gone)
  const idle = await connectControl(server, gone)
  // Its answer says that the server knows whose connection it is.
  idle.write(`GET ${endpoints.health.path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await once(idle, 'data')
  idle.resume()
  await until('the edge to be connected', () => isConnected('gone'))
  const ended = Promise.all([once(socket, 'close'), once(idle, 'close')])
  await client.delete(`/api/edges/${gone.joined.edgeId}`)
  await ended
  const answer = await askControl(server, gone, STATE)
  expect([answer.status, answer.json]).toMatchObject([
    401,
    { message: expect.stringContaining('was removed') },
  ])
  await expect(openEdgeSocket(server, gone)).rejects.toThrow('401')
})

const isConnected = async (name: string) =>
  (await client.get('/api/edges'))
    .json()
    .some((edge: { name: string; connected: boolean }) => edge.name === name && edge.connected)

it('takes an edge for the one in its certificate, whatever else it says', async () => {
  const answer = await askControl(server, plain, {
    ...STATE,
    headers: { authorization: `Bearer ${'x'.repeat(43)}`, 'x-postern-edge': '1' },
  })
  expect(answer.status).toBe(200)
  // Its own key in the tunnel, and not that of the edge beside the server.
  const { settings } = (answer.json as { sections: { settings: { tunnelPrivateKey: string } } }).sections
  expect(settings.tunnelPrivateKey).not.toBe(server.context.tunnel.privateKey)
})

it('lets no visitor of an edge be that edge', async () => {
  for (const edge of [plain, withConsole])
    for (const { method, path } of [
      endpoints.edgeState,
      endpoints.edgeCertificate,
      endpoints.edgeSocket,
      endpoints.edgeWhy,
    ]) {
      const answer = await askControl(server, edge, {
        method,
        path,
        headers: VISITOR,
        body: method === 'GET' ? undefined : {},
      })
      expect([path, [401, 403].includes(answer.status)]).toEqual([path, true])
    }
})

const login = { path: endpoints.login.path, body: TEST_ADMIN, headers: VISITOR }

it('hands on nothing of the console from an edge that does not serve it', async () => {
  const paths = [
    '/',
    '/nodes',
    '/api/config',
    '/api/people',
    '/api/agent/config',
    '/install/agent.sh',
    '/docs/',
  ]
  const spellings = ['/.postern/../api/people', '/.postern/%2e%2e/api/people', '//api/people', '/API/people']
  for (const path of [...paths, ...spellings]) {
    const headers = { ...VISITOR, authorization: `Bearer ${client.token}` }
    const answer = await askControl(server, plain, { method: 'GET', path, headers })
    expect([path, answer.status]).toEqual([path, path.includes('%2e') ? expect.any(Number) : 403])
    expect(answer.body).not.toContain('username')
  }
  expect((await askControl(server, plain, login)).status).toBe(403)
  expect((await askControl(server, withConsole, login)).status).toBe(200)
  const answer = await askControl(server, withConsole, {
    method: 'GET',
    path: '/api/people',
    headers: { ...VISITOR, authorization: `Bearer ${client.token}` },
  })
  expect(answer.status).toBe(200)
})

it('hands on what visitors of services need, from every edge', async () => {
  const headers = { ...VISITOR, host: 'app.example.com' }
  const answer = await askControl(server, plain, { method: 'GET', path: '/.postern/sign-in?rd=/', headers })
  expect([401, 403]).not.toContain(answer.status)
  const nonce = 'a'.repeat(32)
  const proof = await askControl(server, plain, {
    method: 'GET',
    path: `/.well-known/postern/${nonce}`,
    headers,
  })
  expect(proof.status).toBe(404)
})

it('answers the health check of every edge', async () => {
  const health = { method: 'GET', path: endpoints.health.path }
  expect((await askControl(server, plain, health)).status).toBe(200)
})

it('believes an edge where a visitor comes from, and nobody else', async () => {
  const from = async () => JSON.stringify((await client.get('/api/account/sessions')).json())
  await askControl(server, withConsole, {
    ...login,
    headers: { ...VISITOR, 'x-forwarded-for': '192.0.2.99' },
  })
  expect(await from()).toContain('192.0.2.99')
  const { method, path: url } = endpoints.login
  await server.call({ method, url, payload: TEST_ADMIN, headers: { 'x-forwarded-for': '192.0.2.98' } })
  expect(await from()).not.toContain('192.0.2.98')
})

it('asks nothing for root on the server: Why? is not for edges elsewhere', async () => {
  const body = { address: 'https://app.example.com' }
  expect((await askControl(server, withConsole, { path: endpoints.edgeWhy.path, body })).status).toBe(403)
})

test('a port that another program holds is shown like a problem of the edge beside the server, until it is free', async () => {
  // That of the running server, for a second listener.
  const problems = async () =>
    (await client.get('/api/edges')).json()[0].problems.map(({ message }: Problem) => message)
  expect(await problems()).toEqual([])
  const close = await openControl(server.context)
  expect(await problems()).toEqual([
    `port ${server.controlPort} of 127.0.0.1 is taken: end what uses it, or set POSTERN_CONTROL_LISTEN to a free one`,
  ])
  await close()
  server.context.edges.tellOwn('control', null)
})

test('connections that prove nothing take no place of edges', async () => {
  const idle = Array.from({ length: 300 }, () =>
    connect(server.controlPort, '127.0.0.1').on('error', () => {}),
  )
  await Promise.all(idle.map((socket) => once(socket, 'connect')))
  expect((await askControl(server, plain, STATE)).status).toBe(200)
  await until(
    'the oldest to be ended',
    () => idle.filter(({ readyState }) => readyState !== 'open').length > 40,
  )
  for (const socket of idle) socket.destroy()
})

/** Another installation's, with a certificate for an edge of the same id. */
async function otherAuthority() {
  const { secrets, clock, randomBytes } = server.context
  const db = openDatabase(':memory:', true)
  const authority = createEdgesAuthority({ db, secrets, clock, randomBytes })
  return {
    async issue(edgeId: number): Promise<Pick<EdgeMachine, 'certificate' | 'privateKey'>> {
      const { csr, privateKey } = await makeRequest()
      const key = await findRequestedKey(csr)
      if (!key) throw new Error('no key')
      return { privateKey, certificate: (await authority.issueEdge(edgeId, key)).certificate }
    },
  }
}
