import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { sendRaw } from '@postern/testkit/wire'
import { beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'

const SECRET = 'a-secret-of-the-file-next-to-it'
const rootDir = tempDir()
let port: number
let token: string

beforeAll(async () => {
  mkdirSync(`${rootDir}/apps/console/dist/assets`, { recursive: true })
  mkdirSync(`${rootDir}/apps/server/dist/docs/images`, { recursive: true })
  writeFileSync(`${rootDir}/apps/server/dist/docs/index.html`, 'the documentation')
  writeFileSync(`${rootDir}/apps/console/dist/index.html`, 'the console')
  for (const file of [
    'secret.md',
    'apps/server/dist/secret.txt',
    'apps/server/dist/docs/secret.txt',
    'apps/console/secret.js',
    'apps/console/dist/.secret',
  ])
    writeFileSync(`${rootDir}/${file}`, SECRET)
})
const server = shared(() => startTestServer({ rootDir }))
beforeAll(async () => {
  port = Number(new URL(await server.listen()).port)
  token = (await server.signIn()).token
})

const say = (text: string) => sendRaw(port, text, { isPlain: true })

const get = (target: string, ...headers: string[]) =>
  say([`GET ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n'))

test.each(['/docs', '/docs/images', '/assets', '/install', ''])(
  'below %s/ no path leads out',
  async (base) => {
    const ways = [
      '..',
      '%2e%2e',
      '..%2f..',
      '%2e%2e%5c..',
      '....//..',
      '..%00',
      '.',
      '../../../..',
      '%252e%252e',
    ]
    const files = [
      'secret.md',
      'secret',
      'secret.txt',
      'secret.js',
      '.secret',
      'etc/passwd',
      'apps/console/secret.js',
    ]
    for (const way of ways)
      for (const file of files)
        for (const target of [`${base}/${way}/${file}`, `${base}/${way}/${way}/${way}/${file}`]) {
          const answer = await get(target, 'Accept: image/png')
          expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
          expect(answer).not.toMatch(/a-secret|root:/)
        }
  },
)

test('a malformed request leaves no token in the log, and gets only one sentence', async () => {
  const bearer = `Authorization: Bearer ${token}`
  const answers = [
    await get(`/api/nodes/%zz?token=${token}`, bearer),
    await get(`/api/nodes/1/download?token=${token}&x=%`, bearer),
    await get(`//evil.example/api?token=${token}`, bearer),
    await get(`/api/nodes?token=${token}`, bearer, 'Bad Header: x'),
    await get(`/api/nodes?token=${token}&${'x'.repeat(40_000)}`, bearer),
    await get('/api/nodes', bearer, `X: ${'y'.repeat(40_000)}`),
    await say(`POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\n${bearer}\r\nContent-Length: zz\r\n\r\n`),
    await say(
      `BREW /api/nodes?token=${token} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${bearer}\r\n\r\n`,
    ),
    await say(`token=${token}\r\n\r\n`),
  ]
  for (const answer of answers) {
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(answer).not.toContain(token)
    expect(answer).not.toMatch(/FST_|node_modules|at .*\.ts/)
  }
  expect(server.logged()).toContain('"msg":"request"')
  expect(server.logged()).not.toContain(token)
})

test('a socket opens only for a bearer token, not for a cookie or a parameter', async () => {
  const { token: node } = (
    await server.signIn().then((client) => client.post('/api/nodes', { name: 'n' }))
  ).json()
  const dial = (path: string, headers: Record<string, string>) =>
    new Promise<string>((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
      socket.on('open', () => resolve('open')).on('error', (error) => resolve(error.message))
    })
  const refused = 'Unexpected server response: 401'
  for (const path of ['/api/agent/socket', '/api/edge/socket'])
    for (const credential of [node, token]) {
      expect(await dial(path, { cookie: `token=${credential}` })).toBe(refused)
      expect(await dial(`${path}?token=${credential}`, {})).toBe(refused)
    }
  expect(await dial('/api/agent/socket', { authorization: `Bearer ${node}` })).toBe('open')
})

const UPGRADE = [
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const dialRaw = (target: string) => say([`GET ${target} HTTP/1.1`, ...UPGRADE, '', ''].join('\r\n'))
const countConnections = () =>
  new Promise<number>((resolve) => server.app.server.getConnections((_, count) => resolve(count)))

test('a path that is no socket is not upgraded, whatever the credential', async () => {
  for (const target of ['/', '/docs', '/nothing', '/api/health', '/api/nodes', `/api/nodes?token=${token}`])
    expect(await dialRaw(target)).toMatch(/^HTTP\/1\.1 404 /)
})

test('an upgrade to a malformed address is disconnected', async () => {
  const before = await countConnections()
  for (const target of ['/%zz', '/%ff', '/docs/%ff'])
    expect(await dialRaw(target)).toMatch(/^HTTP\/1\.1 4\d\d /)
  await until('no connection more than before', async () => (await countConnections()) <= before)
})

test('a stranger is refused before the body has arrived', async () => {
  const head = [
    'POST /api/nodes HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    'Content-Length: 9999',
  ]
  const socket = connect(port, '127.0.0.1', () => socket.write([...head, '', '{'].join('\r\n')))
  const [answer] = await once(socket.setEncoding('latin1'), 'data')
  expect(answer).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})

test('a cookie does not count when another site makes the browser send it', async () => {
  const read = (site: string | undefined, url = '/api/auth/me') =>
    server.call({
      method: 'GET',
      url,
      headers: { cookie: `token=${token}`, ...(site && { 'sec-fetch-site': site }) },
    })
  for (const site of [undefined, 'same-origin', 'none']) expect((await read(site)).statusCode).toBe(200)
  for (const site of ['same-site', 'cross-site']) {
    expect((await read(site)).statusCode).toBe(401)
    expect((await read(site, '/api/nodes/2/download')).statusCode).toBe(401)
  }
})

test("a cookie from a subdomain's service does not hide a session", async () => {
  for (const cookie of [
    `token=theirs; token=${token}`,
    `token=${token};token=theirs`,
    `token=;token=${token}`,
  ]) {
    const answer = await server.call({ method: 'GET', url: '/api/auth/me', headers: { cookie } })
    expect([cookie, answer.statusCode]).toEqual([cookie, 200])
  }
})

test('keys that mean something to JavaScript mean nothing here', async () => {
  const client = await server.signIn()
  for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    expect((await client.get(`/api/nodes?${key}=1`)).statusCode).toBe(422)
    expect((await client.get(`/api/nodes?orderBy=${key},asc`)).statusCode).toBe(422)
    expect((await client.get(`/api/nodes/${key}`)).statusCode).toBe(404)
    expect((await server.call({ method: 'GET', url: `/docs/${key}` })).statusCode).toBe(404)
    const login = await server.call({
      method: 'POST',
      url: '/api/auth/login',
      payload: { username: key, password: key },
    })
    expect(login.statusCode).toBe(401)
    const body = `{"name":"x","${key}":{"isGateway":true}}`
    const create = await server.call({
      method: 'POST',
      url: '/api/nodes',
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
      payload: body,
    })
    expect([400, 422]).toContain(create.statusCode)
  }
  expect(Object.keys(Object.prototype)).toEqual([])
})
