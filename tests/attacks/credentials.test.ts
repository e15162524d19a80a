import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Endpoint, pathOf } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { SESSION_KEY_HEADER } from '@postern/contract/sign-in/auth'
import { addPerson, openSession } from '@postern/testkit/people'
import { type Client, startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import type { InjectOptions } from 'fastify'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { CARRIERS, type Carrier, type CredentialKind, NONSENSE, verdictOf } from './tables/credentials.ts'

const all: [string, Endpoint][] = Object.entries(endpoints)
const YEAR = 366 * 24 * 3600 * 1000

interface Credential {
  name: string
  kind: CredentialKind
  text: string
  /** The second half of the credential. */
  key?: string
}

let client: Client
let now = Date.now()
const credentials: Credential[] = []

const server = shared(() => startTestServer({ world: { clock: () => now } }))
// Not the person of `client`: one of the endpoints ends all other sessions of whoever calls it.
const other = shared(() => addPerson(server, 'other', 'admin'))
beforeAll(async () => {
  const expired = await newSession()
  const oldTicket = await newTicket(expired)
  now += YEAR
  client = await server.signIn()
  const ended = await server.signIn()
  const endedTicket = await newTicket(ended.token)
  await ended.post('/api/auth/logout')
  const edge = readFileSync(server.context.config.paths.edgeToken, 'utf8').trim()
  credentials.push(
    { name: 'a session that has expired', kind: 'nothing', text: expired },
    { name: 'a session that was ended', kind: 'nothing', text: ended.token },
    { name: 'a ticket that has expired', kind: 'nothing', text: oldTicket },
    { name: 'a ticket of a session that was ended', kind: 'nothing', text: endedTicket },
    { name: 'a ticket', kind: 'ticket', text: await newTicket(client.token) },
    { name: 'a bound session without its key', kind: 'nothing', text: await newSession(KEY) },
    {
      name: "a bound session with another's key",
      kind: 'nothing',
      text: await newSession(KEY),
      key: 'B'.repeat(43),
    },
    { name: 'an unbound session with a key', kind: 'nothing', text: await newSession(), key: KEY },
    { name: 'the token of the edge', kind: 'edge', text: edge },
    ...(await makeNodes()),
    ...(await makePrograms()),
    ...(await makeNonsense()),
  )
})

const KEY = 'A'.repeat(43)
const newSession = async (key?: string) => (await openSession(server.context, other.userId, key)).token

async function newTicket(session: string): Promise<string> {
  const headers = { authorization: `Bearer ${session}` }
  const answer = await server.call({ method: 'POST', url: '/api/auth/ticket', headers, payload: {} })
  return answer.json().ticket
}

async function makeNodes(): Promise<Credential[]> {
  const make = async (name: string): Promise<{ id: number; token: string }> =>
    (await client.post('/api/nodes', { name })).json()
  const [plain, off, revoked, expired, gone] = await Promise.all(
    ['plain', 'off', 'revoked', 'expired', 'gone'].map(make),
  )
  if (!plain || !off || !revoked || !expired || !gone) throw new Error('a node is missing')
  await client.patch(`/api/nodes/${off.id}/disable`)
  await client.delete(`/api/nodes/${gone.id}`)
  const { db } = server.context
  await db.updateTable('node_tokens').set({ revoked: 1 }).where('node_id', '=', revoked.id).execute()
  const past = new Date(now - 1).toISOString()
  await db.updateTable('node_tokens').set({ expire_at: past }).where('node_id', '=', expired.id).execute()
  return [
    { name: 'the token of a node', kind: 'node', text: plain.token },
    { name: 'the token of a disabled node', kind: 'node', text: off.token },
    { name: 'a token that was revoked', kind: 'known node', text: revoked.token },
    { name: 'a token that has expired', kind: 'known node', text: expired.token },
    { name: 'the token of a deleted node', kind: 'unknown node', text: gone.token },
    { name: 'a token that was never issued', kind: 'unknown node', text: `ptn_${'A'.repeat(43)}` },
  ]
}

async function makePrograms(): Promise<Credential[]> {
  const make = async (name: string): Promise<{ id: number; token: string }> =>
    (await client.post('/api/tokens', { name, role: 'admin', password: TEST_ADMIN.password })).json()
  const [plain, revoked, expired, gone] = [
    await make('plain'),
    await make('revoked'),
    await make('expired'),
    await make('gone'),
  ]
  await client.patch(`/api/tokens/${revoked.id}/revoke`)
  await client.delete(`/api/tokens/${gone.id}`)
  const past = new Date(now - 1).toISOString()
  const { db } = server.context
  // The column never changes in the server, only here.
  await sql`UPDATE api_tokens SET expire_at = ${past} WHERE id = ${expired.id}`.execute(db)
  return [
    { name: 'an API token', kind: 'program', text: plain.token },
    { name: 'an API token that was revoked', kind: 'known program', text: revoked.token },
    { name: 'an API token that has expired', kind: 'known program', text: expired.token },
    { name: 'an API token that was deleted', kind: 'nothing', text: gone.token },
    { name: 'an API token that was never issued', kind: 'nothing', text: `pta_${'A'.repeat(43)}` },
    { name: 'an API token without its prefix', kind: 'nothing', text: plain.token.slice(4) },
    { name: 'an API token as a session', kind: 'nothing', text: `pts_${plain.token.slice(4)}` },
  ]
}

async function makeNonsense(): Promise<Credential[]> {
  const session = await newSession()
  const parts: Record<string, string> = {
    '%s': session,
    '%t': session.slice(4),
    '%u': session.toUpperCase(),
    '%h': createHash('sha256').update(session).digest('hex'),
  }
  const fill = (text: string) => text.replace(/%[stuh]/g, (part) => parts[part] ?? '')
  return NONSENSE.map(([name, text]) => ({ name, kind: 'nothing' as const, text: fill(text) }))
}

type Sent = Pick<Credential, 'text' | 'key'>

/** A request that does no harm if it is accepted: unknown ids, unknown queries, empty bodies. */
function requestTo(endpoint: Endpoint, carrier: Carrier, { text, key }: Sent): InjectOptions {
  const url = pathOf(endpoint, { id: 999_999, nodeId: 999_999, type: 'http' })
  const query = carrier === 'query' ? `&token=${encodeURIComponent(text)}` : ''
  const body = carrier === 'body' ? { token: text } : {}
  const isRead = endpoint.method === 'GET'
  return {
    method: endpoint.method,
    url: `${url}${endpoint.query || query ? `?nonsense=1${query}` : ''}`,
    headers: { ...headersOf(carrier, text), ...(key && { [SESSION_KEY_HEADER]: key }) },
    ...(isRead ? {} : { payload: body }),
  }
}

function headersOf(carrier: Carrier, text: string): Record<string, string> {
  if (carrier === 'bearer') return { authorization: `Bearer ${text}` }
  if (carrier === 'cookie') return { cookie: `token=${text}` }
  if (carrier === 'basic')
    return { authorization: `Basic ${Buffer.from(`admin:${text}`).toString('base64')}` }
  if (carrier === 'http cookie') return { cookie: `token-http=${text}` }
  if (carrier === 'own header') return { 'x-auth-token': text, 'x-api-key': text, token: text }
  return {}
}

test.each(all)('%s accepts the credentials that the contract lists, and no others', async (_, endpoint) => {
  const wrong: unknown[] = []
  // So many unknown tokens from one source would have to wait.
  server.context.unknownTokens.forget('127.0.0.0/8')
  const check = async (carrier: Carrier, credential: Credential) => {
    const { name, kind, text } = credential
    const answer = await server.call(requestTo(endpoint, carrier, credential))
    const status = [401, 403].includes(answer.statusCode) ? answer.statusCode : 200
    const expected = verdictOf(endpoint, carrier, kind)
    if (status !== expected || answer.statusCode >= 500)
      wrong.push([name, carrier, answer.statusCode, expected])
    if (text.length > 30 && answer.body.includes(text)) wrong.push([name, carrier, 'comes back'])
  }
  for (const carrier of CARRIERS) {
    // Fresh ones each time: one of the endpoints ends them.
    await check(carrier, { name: 'a session', kind: 'session', text: await newSession() })
    await check(carrier, { name: 'a bound session', kind: 'session', text: await newSession(KEY), key: KEY })
    for (const credential of credentials) await check(carrier, credential)
  }
  expect(wrong).toEqual([])
})

test('nothing is open without a credential, except where the contract says so', async () => {
  for (const [name, endpoint] of all) {
    const { statusCode } = await server.call({ ...requestTo(endpoint, 'bearer', { text: '' }), headers: {} })
    expect([name, statusCode === 401]).toEqual([name, endpoint.auth !== 'none'])
  }
})

test('a valid credential beside an invalid one does not count', async () => {
  const session = await newSession()
  const cookie = `token=${session}`
  const authorization = `Bearer pts_${'A'.repeat(43)}`
  for (const [, endpoint] of all.filter(
    ([, { auth }]) => auth !== 'none' && auth !== 'node' && auth !== 'edge',
  )) {
    const request = requestTo(endpoint, 'query', { text: session })
    expect((await server.call({ ...request, headers: { cookie, authorization } })).statusCode).toBe(401)
  }
})

test("a node's token reads only that node's data", async () => {
  const [a, b] = await Promise.all(
    ['a', 'b'].map(async (name) => (await client.post('/api/nodes', { name })).json()),
  )
  const read = (token: string) =>
    server.call({ method: 'GET', url: '/api/agent/config', headers: { authorization: `Bearer ${token}` } })
  const [ofA, ofB] = [await read(a.token), await read(b.token)]
  expect(ofA.body).toContain(a.address)
  expect(ofA.body).not.toContain(b.address)
  expect(ofB.body).not.toContain(a.address)
})
