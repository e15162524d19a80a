import { type AddressInfo, createServer, type Server } from 'node:net'
import { sendRaw } from '@postern/testkit/wire'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
  PUBLIC_HOST,
} from '../../../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { visit } from '../../../../test/visitor.ts'

const CONSOLE = 'c.example.com'
const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSet-Cookie: a=1\r\nStrict-Transport-Security: max-age=1\r\n\r\n'
const TRAILED =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie\r\n\r\n4\r\nbody\r\n0\r\nSet-Cookie: a=1\r\n\r\n'

let lab: HaproxyLab
let service: Upstream
let raw: Server
let rawPort: number
let server: Upstream

beforeAll(async () => {
  lab = await makeHaproxyLab()
  service = await startUpstream({
    answer(request, response) {
      const headers: [string, string][] = JSON.parse(String(request.headers['x-answer'] ?? '[]'))
      for (const [name, value] of headers) response.appendHeader(name, value)
      response.end('service')
    },
  })
  raw = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (head) => socket.write(String(head).includes('/socket') ? SWITCHING : TRAILED))
  })
  await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve))
  // A TCP listener has this kind of address.
  rawPort = (raw.address() as AddressInfo).port
  server = await startUpstream({
    path: lab.serverSocket,
    answer: (_request, response) =>
      response.writeHead(200, { 'set-cookie': 'token=1', nel: '{}' }).end('console'),
  })
})
afterAll(async () => {
  await lab.close()
  for (const each of [service, server]) await each.close()
  raw.close()
})

const publish = (domain: string | null) =>
  lab.apply([
    makeConsoleRoute({ domain }),
    makeLabRoute(2, service.port, { domain: CONSOLE, path: '/tool' }),
    makeLabRoute(3, service.port, { domain: null, path: '/tool' }),
    makeLabRoute(4, service.port, { domain: 'app.example.com' }),
    makeLabRoute(5, rawPort, { domain: CONSOLE, path: '/raw' }),
  ])

const ask = (host: string, path: string, headers: [string, string][] = [], method = 'GET') =>
  visit({ port: lab.httpsPort, host, path, method, headers: { 'x-answer': JSON.stringify(headers) } })

/** Each would make a browser do something at the console's host after the answer is over. */
const LASTING: [string, string][] = [
  ['NEL', '{"report_to":"g","max_age":1,"success_fraction":1}'],
  ['Report-To', '{"group":"g","max_age":1,"endpoints":[{"url":"https://stranger.example"}]}'],
  ['Reporting-Endpoints', 'default="https://stranger.example"'],
  ['Strict-Transport-Security', 'max-age=1; includeSubDomains'],
  ['Public-Key-Pins', 'pin-sha256="x"; max-age=1'],
  ['Expect-CT', 'max-age=1'],
  ['Alt-Svc', 'h3="stranger.example:443"'],
  ['Service-Worker-Allowed', '/'],
  ['Clear-Site-Data', '"*"'],
  ['Accept-CH', 'Sec-CH-UA-Model'],
  ['Accept-CH-Lifetime', '86400'],
  ['Critical-CH', 'Sec-CH-UA-Model'],
  ['Origin-Agent-Cluster', '?1'],
  ['Set-Login', 'logged-out'],
  ['Use-As-Dictionary', 'match="/*"'],
  ['Speculation-Rules', '"/rules.json"'],
  ['Secure-Session-Registration', '(ES256);path="/x"'],
  ['Sec-Session-Registration', '(ES256);path="/x"'],
  ['Activate-Storage-Access', 'load'],
  ['Set-Cookie', 'session=1; HttpOnly'],
  ['Set-Cookie', 'theme=dark; Path=/tool'],
  ['Set-Cookie2', 'a=1'],
]
const OTHERS: [string, string][] = [
  ['Cache-Control', 'max-age=60'],
  ['Content-Security-Policy', "default-src 'self'"],
  ['Link', '</x.css>; rel=preload'],
  ['X-Frame-Options', 'DENY'],
]

test('the answers of a service beside the console are sandboxed and leave nothing behind in the browser', async () => {
  await publish(CONSOLE)
  const hosts = [CONSOLE, PUBLIC_HOST, '127.0.0.1', '[::1]']
  // Requests that are sent once take another path through HAProxy.
  for (const [host, method] of hosts.flatMap((name) => [[name, 'GET'] as const, [name, 'POST'] as const])) {
    const { headers, text } = await ask(host, '/tool', [...LASTING, ...OTHERS], method)
    expect(text).toBe('service')
    for (const [name] of LASTING) expect(headers, `${host} ${name}`).not.toHaveProperty(name.toLowerCase())
    for (const [name, value] of OTHERS) expect(headers[name.toLowerCase()], name).toContain(value)
    expect(headers['content-security-policy']).toMatch(/(^|, )sandbox /)
    expect(headers['content-security-policy']).not.toContain('allow-same-origin')
  }
})

test('at its own name a service sends what it likes, and so does the console', async () => {
  await publish(CONSOLE)
  const { headers } = await ask('app.example.com', '/', [...LASTING, ...OTHERS])
  for (const [name] of LASTING) expect(headers, name).toHaveProperty(name.toLowerCase())
  expect(headers['content-security-policy']).toBe("default-src 'self'")
  expect((await ask(CONSOLE, '/nodes')).headers).toMatchObject({ 'set-cookie': ['token=1'], nel: '{}' })
})

test('the domain that the console leaves is no longer shared', async () => {
  await publish(CONSOLE)
  expect((await ask(CONSOLE, '/tool', [['NEL', '{}']])).headers.nel).toBeUndefined()
  await publish(null)
  const left = await ask(CONSOLE, '/tool', [['NEL', '{}']])
  expect(left.headers.nel).toBe('{}')
  expect(left.headers['content-security-policy']).toBeUndefined()
})

test.each([
  ['the public host moved onto its domain', null, { domain: PUBLIC_HOST, path: '/api' }],
  ['the public host moved onto its whole domain', null, { domain: PUBLIC_HOST, path: '/' }],
  ['the console got its domain', CONSOLE, { domain: CONSOLE, path: '/api/auth' }],
  ['it has no domain', CONSOLE, { domain: null, path: '/assets' }],
])('no service gets a path of the console: %s', async (_, domain, place) => {
  const problems = await lab.apply([makeConsoleRoute({ domain }), makeLabRoute(2, service.port, place)])
  expect(problems).toMatchObject([{ scope: { kind: 'service', id: 2 } }])
  const host = place.domain ?? PUBLIC_HOST
  const seen = service.seen.length
  for (const path of [place.path, '/api/auth/login', '//api/auth/login', '/x/../api', '/%61pi/auth/login']) {
    const answer = await visit({ port: lab.httpsPort, host, path, method: 'POST', body: 'password' })
    expect(answer.text, path).toBe('console')
  }
  expect(service.seen).toHaveLength(seen)
})

test('nor does the answer to a WebSocket leave anything behind, and trailers are no headers', async () => {
  await publish(CONSOLE)
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${CONSOLE}\r\n`
  const upgrade =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  const socket = await sendRaw(lab.httpsPort, request('/raw/socket') + upgrade, { silence: 3000 })
  expect(socket).toMatch(/^HTTP\/1.1 101 /)
  expect(socket).not.toMatch(/set-cookie|strict-transport/i)
  const trailed = await sendRaw(lab.httpsPort, `${request('/raw/trailers')}Connection: close\r\n\r\n`)
  const [head] = trailed.split('\r\n\r\n')
  expect(trailed).toContain('body')
  expect(head).not.toMatch(/^set-cookie/im)
})

test('a service worker that somebody left at a host of the console goes when the browser looks for a newer one', async () => {
  await publish(CONSOLE)
  const look = (host: string, path: string) =>
    visit({ port: lab.httpsPort, host, path, headers: { 'service-worker': 'script', 'x-answer': '[]' } })
  for (const path of ['/tool/sw.js', '/sw.js', '/assets/sw.js'])
    for (const host of [CONSOLE, PUBLIC_HOST]) {
      const { status, headers } = await look(host, path)
      expect([status, headers['clear-site-data']]).toEqual([404, '"cache", "storage"'])
    }
  const { status, headers, text } = await look('app.example.com', '/sw.js')
  expect([status, headers['clear-site-data'], text]).toEqual([200, undefined, 'service'])
})
