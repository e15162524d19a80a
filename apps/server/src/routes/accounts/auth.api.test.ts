import { scryptSync } from 'node:crypto'
import { startTestServer, TEST_ADMIN, type TestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { SESSION_MS } from '../../core/accounts/sessions.ts'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))

function login(username: string, password: string, remoteAddress = '198.51.100.7') {
  return server.call({
    method: 'POST',
    url: '/api/auth/login',
    payload: { username, password },
    remoteAddress,
  })
}

const withBearer = (token: string, url = '/api/auth/me') => server.as(token).get(url)

test('a right password gives a token for seven days, kept only as a hash', async () => {
  const answer = await login(TEST_ADMIN.username, TEST_ADMIN.password)
  expect(answer.statusCode).toBe(200)
  const { token, expires_in } = answer.json()
  expect(token).toMatch(/^pts_[\w-]{43}$/)
  expect(expires_in).toBe(SESSION_MS / 1000)
  expect((await withBearer(token)).json()).toEqual({ id: 1, username: 'admin', role: 'admin', reach: null })
  const stored = await server.context.db.selectFrom('sessions').selectAll().execute()
  expect(JSON.stringify(stored)).not.toContain(token)
})

test('a wrong password and an unknown name answer the same', async () => {
  const [wrong, unknown] = [await login('admin', 'no'), await login('nobody', 'no')]
  for (const answer of [wrong, unknown]) {
    expect(answer.statusCode).toBe(401)
    expect(answer.json()).toMatchObject({ message: 'Invalid Credentials', code: 'credentials' })
  }
})

test('where nobody has a password, the answer is the same', async () => {
  await server.context.db.updateTable('users').set({ password_hash: null }).execute()
  expect((await login('admin', 'no')).json()).toMatchObject({ code: 'credentials' })
})

test('a hash from before Argon2id lets in, and is renewed by the right password only', async () => {
  const { db } = server.context
  const readHash = async () =>
    (await db.selectFrom('users').select('password_hash').executeTakeFirstOrThrow()).password_hash
  const salt = Buffer.alloc(16, 1)
  const hash = scryptSync(TEST_ADMIN.password, salt, 32, { N: 1024 })
  const before = `scrypt$1024$${salt.toString('base64url')}$${hash.toString('base64url')}`
  await db.updateTable('users').set({ password_hash: before }).execute()
  expect((await login('admin', 'no')).statusCode).toBe(401)
  expect(await readHash()).toBe(before)
  expect((await login('admin', TEST_ADMIN.password)).statusCode).toBe(200)
  expect(await readHash()).toMatch(/^\$argon2id\$/)
  expect((await login('admin', TEST_ADMIN.password)).statusCode).toBe(200)
})

test('five failures lock that account from that address, with the time to wait', async () => {
  for (let i = 0; i < 5; i++) expect((await login('admin', 'no')).statusCode).toBe(401)
  const locked = await login('admin', TEST_ADMIN.password)
  expect(locked.statusCode).toBe(429)
  expect(locked.headers['retry-after']).toBe('600')
  expect((await login('admin', TEST_ADMIN.password, '198.51.100.8')).statusCode).toBe(200)
  server.now += 10 * 60_000
  expect((await login('admin', TEST_ADMIN.password)).statusCode).toBe(200)
})

test('parallel attempts count as well', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => login('admin', 'no')))
  expect(answers.filter((answer) => answer.statusCode === 401)).toHaveLength(5)
})

test('one password is checked at a time, for the memory that each takes', async () => {
  const busy = Promise.withResolvers<void>()
  const first = server.context.passwordGate.pass(() => busy.promise)
  let isBegun = false
  const second = server.context.passwordGate.pass(async () => {
    isBegun = true
  })
  await new Promise(setImmediate)
  expect(isBegun).toBe(false)
  busy.resolve()
  await Promise.all([first, second])
  expect(isBegun).toBe(true)
})

test('too many at once are told to wait, without a stack trace for each in the log', async () => {
  const busy = Promise.withResolvers<void>()
  const inside = Array.from({ length: 51 }, () => server.context.passwordGate.pass(() => busy.promise))
  // An unknown name takes the same path.
  for (const name of ['admin', 'nobody']) expect((await login(name, 'no')).statusCode).toBe(503)
  busy.resolve()
  await Promise.all(inside)
  expect(server.logged()).toContain('"status":503')
  expect(server.logged()).not.toContain('"level":50')
})

test('one address cannot try many accounts, nor hide in its IPv6 network', async () => {
  for (let i = 0; i < 30; i++) await login(`user${i}`, 'no', `2001:db8:1:2::${i.toString(16)}`)
  expect((await login('admin', TEST_ADMIN.password, '2001:db8:1:2:ffff::1')).statusCode).toBe(429)
  expect((await login('admin', TEST_ADMIN.password, '2001:db8:1:3::1')).statusCode).toBe(200)
})

test('logout ends the token at once', async () => {
  const { token } = await server.signIn()
  expect((await server.as(token).post('/api/auth/logout')).statusCode).toBe(200)
  expect((await withBearer(token)).statusCode).toBe(401)
})

test('a session ends after seven days without use, and slides with use', async () => {
  const { token } = await server.signIn()
  server.now += SESSION_MS - 1000
  expect((await withBearer(token)).statusCode).toBe(200)
  server.now += SESSION_MS - 1000
  expect((await withBearer(token)).statusCode).toBe(200)
  server.now += SESSION_MS
  expect((await withBearer(token)).statusCode).toBe(401)
})

test('the cookie is for reading only', async () => {
  const { token } = await server.signIn()
  const cookie = { cookie: `a=b; token=${token}` }
  expect((await server.call({ method: 'GET', url: '/api/auth/me', headers: cookie })).statusCode).toBe(200)
  const post = await server.call({ method: 'POST', url: '/api/auth/logout', headers: cookie })
  expect(post.statusCode).toBe(401)
})

test('a token in the address is for streams and the download only', async () => {
  const { token } = await server.signIn()
  expect((await server.call({ method: 'GET', url: `/api/nodes?token=${token}` })).statusCode).toBe(401)
  const client = await server.signIn()
  await client.post('/api/nodes', { name: 'a' })
  const download = await server.call({ method: 'GET', url: `/api/nodes/2/download?token=${token}` })
  expect(download.statusCode).toBe(200)
})

test('a foreign origin may not change anything, our own may', async () => {
  const { token } = await server.signIn()
  const send = (origin: string) =>
    server.call({
      method: 'POST',
      url: '/api/nodes',
      headers: { authorization: `Bearer ${token}`, origin, host: 'localhost:8443' },
      payload: { name: 'x' },
    })
  for (const origin of ['https://evil.example', 'null', 'https://localhost', 'https://app.localhost:8443']) {
    const { statusCode, headers } = await send(origin)
    expect([statusCode, headers['cache-control']]).toEqual([403, 'no-store'])
  }
  expect((await send('https://localhost:8443')).statusCode).toBe(201)
})

test('each credential opens only its own kind of endpoint', async () => {
  const client = await server.signIn()
  const { token: nodeToken } = (await client.post('/api/nodes', { name: 'n' })).json()
  expect((await withBearer(nodeToken, '/api/nodes')).statusCode).toBe(403)
  expect((await withBearer(client.token, '/api/agent/config')).statusCode).toBe(403)
  expect((await withBearer('ptn_unknown', '/api/agent/config')).statusCode).toBe(401)
  expect((await client.post('/api/edge/state')).statusCode).toBe(401)
  expect((await server.as(nodeToken).post('/api/edge/state')).statusCode).toBe(401)
})

test('forwarded headers count only behind HAProxy, and only one hop', async () => {
  const behind = await startTestServer({ trustForwarded: true, now: server.now })
  const attempt = (target: TestServer, forwarded: string) =>
    target.call({
      method: 'POST',
      url: '/api/auth/login',
      headers: { 'x-forwarded-for': forwarded },
      payload: { username: 'admin', password: 'no' },
    })
  for (let i = 0; i < 6; i++) {
    await attempt(server, `198.51.100.${i}`)
    await attempt(behind, `198.51.100.${i}, 203.0.113.9`)
  }
  expect((await attempt(server, '192.0.2.1')).statusCode).toBe(429)
  expect((await attempt(behind, '198.51.100.77, 203.0.113.9')).statusCode).toBe(429)
  expect((await attempt(behind, '203.0.113.9, 203.0.113.10')).statusCode).toBe(401)
  await behind.close()
})

test('HSTS is sent only to clients that came by https through HAProxy', async () => {
  const behind = await startTestServer({ trustForwarded: true })
  const ask = (target: TestServer, proto: string) =>
    target.call({ method: 'GET', url: '/api/health', headers: { 'x-forwarded-proto': proto } })
  expect((await ask(behind, 'https')).headers['strict-transport-security']).toBeDefined()
  expect((await ask(behind, 'http')).headers['strict-transport-security']).toBeUndefined()
  expect((await ask(server, 'https')).headers['strict-transport-security']).toBeUndefined()
  await behind.close()
})

test('after the first start the database counts, not the setting', async () => {
  await server.restart({
    settings: { POSTERN_ADMIN_PASSWORD: 'another password', POSTERN_ADMIN_USERNAME: 'other' },
  })
  expect((await login('other', 'another password')).statusCode).toBe(401)
  expect((await login(TEST_ADMIN.username, TEST_ADMIN.password)).statusCode).toBe(200)
})

test('a revoked or expired token of a node is refused', async () => {
  const client = await server.signIn()
  const { token } = (await client.post('/api/nodes', { name: 'n' })).json()
  const change = (values: { revoked?: 0 | 1; expire_at?: string | null }) =>
    server.context.db.updateTable('node_tokens').set(values).execute()
  const ask = async () => (await withBearer(token, '/api/agent/config')).statusCode
  expect(await ask()).toBe(200)
  await change({ revoked: 1 })
  expect(await ask()).toBe(403)
  await change({ revoked: 0, expire_at: new Date(server.now).toISOString() })
  expect(await ask()).toBe(403)
  await change({ expire_at: new Date(server.now + 1).toISOString() })
  expect(await ask()).toBe(200)
})
