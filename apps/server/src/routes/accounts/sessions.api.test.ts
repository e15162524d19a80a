import { SESSION_KEY_HEADER } from '@postern/contract/sign-in/auth'
import { followStream } from '@postern/testkit/event-stream'
import { writeRows } from '@postern/testkit/rows'
import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test, vi } from 'vitest'
import { updateStated } from '../../changes/change.ts'
import { SESSION_MAX_MS } from '../../core/accounts/sessions.ts'

const KEY = 'k'.repeat(43)
const DAY_MS = 24 * 3600 * 1000

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))

/** Signs in; with a key the session is bound to it, as the console's is. */
async function signIn(key?: string): Promise<string> {
  const answer = await server.call({
    method: 'POST',
    url: '/api/auth/login',
    payload: TEST_ADMIN,
    headers: withKey(key),
  })
  return answer.json<{ token: string }>().token
}

const withKey = (key?: string): Record<string, string> =>
  key === undefined ? {} : { [SESSION_KEY_HEADER]: key }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function ask(headers: Record<string, string>, url = '/api/auth/me'): Promise<number> {
  return (await server.call({ method: 'GET', url, headers })).statusCode
}

async function ticketOf(headers: Record<string, string>): Promise<string> {
  const answer = await server.call({ method: 'POST', url: '/api/auth/ticket', headers })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual({ ticket: expect.stringMatching(/^ptt_[\w-]{59}$/), expires_in: 60 })
  return answer.json<{ ticket: string }>().ticket
}

test('a bound session needs both halves', async () => {
  const token = await signIn(KEY)
  expect(await ask({ ...bearer(token), ...withKey(KEY) })).toBe(200)
  expect(await ask({ cookie: `token=${token}`, ...withKey(KEY) })).toBe(200)
  for (const headers of [
    { cookie: `token=${token}` },
    bearer(token),
    { ...bearer(token), ...withKey(`${KEY}x`) },
    { ...bearer(token), ...withKey('') },
    { ...withKey(KEY) },
  ])
    expect([headers, await ask(headers)]).toEqual([headers, 401])
})

test('a client with only the cookie gets no stream, no file and no ticket, and ends nothing', async () => {
  const token = await signIn(KEY)
  const paths = [
    '/api/nodes/stream',
    `/api/nodes/stream?token=${token}`,
    `/api/logs/stream?type=http&id=1&token=${token}`,
    `/api/nodes/1/download?token=${token}`,
  ]
  for (const path of paths) expect([path, await ask({ cookie: `token=${token}` }, path)]).toEqual([path, 401])
  for (const url of ['/api/auth/ticket', '/api/auth/logout'])
    expect((await server.call({ method: 'POST', url, headers: bearer(token) })).statusCode).toBe(401)
  expect(await ask({ ...bearer(token), ...withKey(KEY) })).toBe(200)
})

test('a client that knows only the specification opens streams by its token in their addresses', async () => {
  const stream = await followStream(`${await server.listen()}/api/nodes/stream?token=${await signIn()}`)
  expect(stream.status).toBe(200)
  stream.close()
})

test('a token that another page put into the cookie does not become the session of a client with a key', async () => {
  const foreign = await signIn()
  expect(await ask({ cookie: `token=${foreign}` })).toBe(200)
  expect(await ask({ cookie: `token=${foreign}`, ...withKey(KEY) })).toBe(401)
  expect(await ask({ cookie: `token=${await signIn('another key')}`, ...withKey(KEY) })).toBe(401)
})

test('the key is kept only as a hash, and no log line has it', async () => {
  const token = await signIn(KEY)
  await ask({ ...bearer(token), ...withKey(KEY) })
  server.context.log.error({ req: { headers: withKey(KEY) } }, 'as a library might')
  const stored = await server.context.db.selectFrom('sessions').selectAll().execute()
  expect(JSON.stringify(stored)).not.toContain(KEY)
  expect(server.logged()).not.toContain(KEY)
})

test('a ticket opens streams for a minute, and nothing else', async () => {
  const session = { ...bearer(await signIn(KEY)), ...withKey(KEY) }
  const ticket = await ticketOf(session)
  const origin = await server.listen()
  const stream = await followStream(`${origin}/api/nodes/stream?token=${ticket}`)
  expect(stream.status).toBe(200)
  for (const path of ['/api/auth/me', '/api/nodes', '/api/nodes/1/download', '/api/agent/config'])
    for (const headers of [bearer(ticket), { cookie: `token=${ticket}` }])
      expect([path, await ask(headers, path)]).toEqual([path, 401])
  for (const path of [`/api/nodes?token=${ticket}`, `/api/nodes/1/download?token=${ticket}`])
    expect([path, await ask({}, path)]).toEqual([path, 401])
  expect(await ask(bearer(ticket), '/api/nodes/stream')).toBe(401)
  expect(
    (await server.call({ method: 'POST', url: '/api/auth/ticket', headers: bearer(ticket) })).statusCode,
  ).toBe(401)
  server.now += 60_000
  expect(await ask({}, `/api/nodes/stream?token=${ticket}`)).toBe(401)
  await writeRows(server.context.db, (tx, revision) =>
    updateStated(tx, 'nodes', 1, revision, { name: 'later' }),
  )
  server.context.bus.emit({ kind: 'changed', revision: 9, touched: { nodes: [1] } })
  await vi.waitFor(() => expect(stream.text).toContain('later'))
  expect(stream.isEnded).toBe(false)
  stream.close()
})

test.each([
  ['changed', (ticket: string) => `${ticket.slice(0, 8)}${ticket[8] === 'A' ? 'B' : 'A'}${ticket.slice(9)}`],
  ['cut', (ticket: string) => ticket.slice(0, -4)],
  ['empty', () => 'ptt_'],
  ['of another server', () => `ptt_${Buffer.alloc(44, 1).toString('base64url')}`],
])('a ticket that was %s opens nothing', async (_, forge) => {
  const ticket = await ticketOf(bearer(await signIn()))
  expect(await ask({}, `/api/nodes/stream?token=${encodeURIComponent(forge(ticket))}`)).toBe(401)
})

test('the end of a session ends its tickets, and the streams that they opened', async () => {
  const session = { ...bearer(await signIn(KEY)), ...withKey(KEY) }
  const ticket = await ticketOf(session)
  const stream = await followStream(`${await server.listen()}/api/nodes/stream?token=${ticket}`)
  expect((await server.call({ method: 'POST', url: '/api/auth/logout', headers: session })).statusCode).toBe(
    200,
  )
  await vi.waitFor(() => expect(stream.isEnded).toBe(true))
  expect(await ask({}, `/api/nodes/stream?token=${ticket}`)).toBe(401)
})

test('no log line has a ticket', async () => {
  const ticket = await ticketOf(bearer(await signIn()))
  const origin = await server.listen()
  const stream = await followStream(`${origin}/api/nodes/stream?token=${ticket}`)
  stream.close()
  await ask({ cookie: `token=${ticket}` }, `/api/nothing?token=${ticket}`)
  expect((await fetch(`${origin}/api/%zz?token=${ticket}`)).status).toBe(400)
  await vi.waitFor(() => expect(server.logged()).toContain('"route":"none"'))
  expect(server.logged()).not.toContain(ticket.slice(4))
})

test('a session that is used every day ends after thirty, and its streams with it', async () => {
  const token = await signIn()
  const begin = server.now
  for (let day = 1; day < 30; day++) {
    server.now = begin + day * DAY_MS
    expect([day, await ask(bearer(token))]).toEqual([day, 200])
  }
  server.now = begin + SESSION_MAX_MS - 300
  const stream = await followStream(`${await server.listen()}/api/nodes/stream?token=${token}`)
  expect(stream.isEnded).toBe(false)
  await vi.waitFor(() => expect(stream.isEnded).toBe(true), 2000)
  server.now = begin + SESSION_MAX_MS
  expect(await ask(bearer(token))).toBe(401)
})

test('a session from a release without this limit gets an end', async () => {
  const token = await signIn()
  await server.context.db
    .updateTable('sessions')
    .set({ expires_at: server.now + 300 * DAY_MS })
    .execute()
  server.now += 29 * DAY_MS
  expect(await ask(bearer(token))).toBe(200)
  server.now += DAY_MS
  expect(await ask(bearer(token))).toBe(401)
})

test('a database that cannot be read signs nobody out, and no agent', async () => {
  const [token, key] = [await signIn(), 'ptn_'.padEnd(47, 'x')]
  await server.context.db.destroy()
  for (const [credential, url] of [
    [token, '/api/auth/me'],
    [key, '/api/agent/config'],
  ] as const) {
    const answer = await server.call({ method: 'GET', url, headers: bearer(credential) })
    expect([answer.statusCode, answer.json()]).toMatchObject([
      500,
      { code: 'internal', message: 'Something went wrong on the server' },
    ])
  }
})
