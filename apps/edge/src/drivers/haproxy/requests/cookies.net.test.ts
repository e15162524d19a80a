import { sendRaw } from '@postern/testkit/wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
} from '../../../../test/haproxy-lab.ts'
import { linesOf, type RawUpstream, startRawUpstream } from '../../../../test/raw-upstream.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream.ts'
import { visit } from '../../../../test/visitor.ts'

const SESSION = 'pts_5Qm3fVtX1yJvZ2kD8nRr0WcBqLh7sGxTa9uEoYiPw4M'
const TICKET = 'ptt_5Qm3fVtX1yJvZ2kD8nRr0WcBqLh7sGxTa9uEoYiPw4M'

let lab: HaproxyLab
let service: RawUpstream
let server: Upstream

beforeAll(async () => {
  lab = await makeHaproxyLab()
  service = await startRawUpstream()
  server = await startUpstream({
    path: lab.serverSocket,
    answer: (request, response) =>
      void response.writeHead(200, { 'set-cookie': `token=${SESSION}` }).end(request.url),
  })
  await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, service.port, { domain: 'app.example.com' }),
    makeLabRoute(3, service.port, { domain: null, path: '/tool' }),
  ])
})

afterAll(async () => {
  await lab.close()
  for (const each of [service, server]) await each.close()
})

/** @returns the head that the service gets. */
async function forwarded(target: string, lines: string[], host = 'app.example.com'): Promise<string> {
  service.heads.length = 0
  const bytes = [`GET ${target} HTTP/1.1`, `Host: ${host}`, ...lines, 'Connection: close', '', ''].join(
    '\r\n',
  )
  const answer = await sendRaw(lab.httpsPort, bytes)
  expect(answer.split('\r\n')[0]).toBe('HTTP/1.1 200 OK')
  expect(service.heads).toHaveLength(1)
  return service.heads[0] ?? ''
}

const cookies = async (lines: string[], host?: string) =>
  linesOf(await forwarded(host ? '/tool' : '/', lines, host), 'cookie').map((line) => line.slice(8))

const target = async (query: string, host?: string) =>
  (await forwarded(`${host ? '/tool' : '/p'}${query}`, [], host)).split(' ')[1]

describe("the console's session", () => {
  test.each([
    [`token=${SESSION}`, []],
    [`token=${TICKET}`, []],
    [`token-http=${SESSION}`, []],
    [`token-http=${SESSION}; token=${SESSION}; token-http=mine`, ['token-http=mine']],
    [`%74oken%2dhttp = "pts%5F${SESSION.slice(4)}"; a=1`, ['a=1']],
    [`a=1; token=${SESSION}; b="x=y"`, ['a=1; b="x=y"']],
    [`a=1;token=${SESSION};b=2`, ['a=1;b=2']],
    [`token=${SESSION}; token=${SESSION};a=1`, ['a=1']],
    [`token=${SESSION}; token=mine`, ['token=mine']],
    [` token = ${SESSION}; xtoken=1; token2=2`, ['xtoken=1; token2=2']],
    [`a=1;;  ; token="${SESSION}";b`, ['a=1;;  ;b']],
    [`%74oken=pts%5F${SESSION.slice(4)}; a=1`, ['a=1']],
    [`%74%6Fken=%70%74%73%5f1; a=1`, ['a=1']],
    [`=token=${SESSION}; a=1`, ['a=1']],
    // More blanks than the check covers, which no browser sends.
    [`${'%20'.repeat(50)}token=${SESSION}; a=1`, ['a=1']],
    [`token${'%20'.repeat(50)}=${SESSION}; a=1`, ['a=1']],
    [`${' '.repeat(99)}token=${SESSION}; a=${' '.repeat(99)}b`, [`a=${' '.repeat(99)}b`]],
  ])('is cut from Cookie: %s', async (cookie, left) => {
    expect(await cookies([`Cookie: ${cookie}`])).toEqual(left)
    expect(await cookies([`Cookie: ${cookie}`], '127.0.0.1')).toEqual(left)
  })

  test('is cut together with all that follows more cookies than browsers keep', async () => {
    const others = Array.from({ length: 250 }, (_, index) => `cookie${index}=of another program`)
    const looked = others.slice(0, 199)
    const cookie = [`token=${SESSION}`, ...looked, `token=${SESSION}`, ...others].join('; ')
    expect(await cookies([`Cookie: ${cookie}`])).toEqual([looked.join('; ')])
    expect(await cookies([`Cookie: ${others.join('; ')}`])).toEqual([others.join('; ')])
  })

  test('is cut from each of several headers, and the others stay', async () => {
    const lines = [
      'Cookie: a=1;  b=2',
      `Cookie: token=${SESSION}; c=3`,
      `Cookie: token=${SESSION}`,
      'Cookie: d=4',
    ]
    expect(await cookies(lines)).toEqual(['a=1;  b=2', 'c=3', 'd=4'])
  })

  test.each([
    [`?token=${SESSION}`, ''],
    [`?token=${TICKET}`, ''],
    [`?a=1&token=${SESSION}&b=2`, '?a=1&b=2'],
    [`?token=${TICKET}&token=${SESSION}&a=%2e`, '?a=%2e'],
    [`?a=1;token=${SESSION};b=2`, '?a=1;b=2'],
    [`?%74oken=pts%5F1&a=?`, '?a=?'],
    [`?token=mine&token=${SESSION}&&`, '?token=mine&&'],
  ])('is cut from the query %s', async (query, left) => {
    expect(await target(query)).toBe(`/p${left}`)
    expect(await target(query, '127.0.0.1')).toBe(`/tool${left}`)
  })

  test('reaches the console in both, and comes from it', async () => {
    const path = `/api/nodes/stream?token=${TICKET}&a=1`
    const headers = { cookie: `a=1;token=${SESSION}` }
    const answer = await visit({ port: lab.httpsPort, host: '127.0.0.1', path, headers })
    expect(answer.headers['set-cookie']).toEqual([`token=${SESSION}`])
    expect(server.seen.at(-1)).toMatchObject({ url: path, headers })
  })
})

describe('what an application calls token', () => {
  test.each([
    // Jupyter
    'Cookie: username-127-0-0-1-8888="2|1:0|10:1795252758|23:username-127-0-0-1-8888|44:MzY=|d0f"; _xsrf=2|8f5c|1b|17',
    'Cookie: token=b7c2f0e8d95b4ce0a5f1d7f3; _xsrf=2|8f5c|1b|17',
    // noVNC with websockify's token plugin
    'Cookie: token=vm-42',
    // Express
    'Cookie: token=eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.k; connect.sid=s%3AqzH.t7%2B; theme=',
    'Cookie: token = "a b" ;; ;  x=1,2; a=$Path;',
    `Cookie: token-https=${SESSION}; tokenhttp=${SESSION}; token-=${SESSION}`,
    `Cookie: mytoken=${SESSION}; x=${SESSION}; sort=pts_desc`,
    'Cookie: token=pt_1; token=PTS_1; token=xpts_1; token; token=',
    'Cookie: ;',
  ])('passes untouched in %s', async (line) => {
    expect(linesOf(await forwarded('/', [line]), 'cookie').map((each) => each.slice(8))).toEqual([
      line.slice(8),
    ])
  })

  test.each([
    '?token=b7c2f0e8d95b4ce0a5f1d7f3',
    '/api/kernels/5a0e/channels?session_id=1&token=b7c2f0e8',
    '/websockify?token=vm-42',
    '/reset?token=eyJhbGciOi.J9&next=%2Fhome',
    '/socket.io/?EIO=4&transport=polling&t=P9x.a&sid=lv_&token=abc',
    `?sort=pts_desc&x=${SESSION}&mytoken=${SESSION}`,
    '?',
    '?a=%2e&b=%&c=%2F%00&&=&',
    '?a="|[{~}]^`\\',
  ])('passes untouched in %s', async (query) => {
    expect(await target(query)).toBe(`/p${query}`)
  })
})

/** What is left of the cookies that an answer of the service sets. */
async function kept(setCookies: string[], host = 'app.example.com', path = '/'): Promise<string[]> {
  const lines = setCookies.map((cookie) => `Set-Cookie: ${cookie}\r\n`).join('')
  service.answer = `HTTP/1.1 200 OK\r\n${lines}Content-Length: 0\r\nConnection: close\r\n\r\n`
  const bytes = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  const answer = await sendRaw(lab.httpsPort, bytes)
  return linesOf(answer, 'set-cookie').map((line) => line.slice(12))
}

describe('Set-Cookie', () => {
  test.each([
    ['a=1', 'a=1; Secure'],
    ['a=1;', 'a=1;; Secure'],
    ['a=secure; Path=/secure; SameSite=Lax', 'a=secure; Path=/secure; SameSite=Lax; Secure'],
    ['secure; x=y', 'secure; x=y; Secure'],
    ['a=1; SecureX; xSecure', 'a=1; SecureX; xSecure; Secure'],
    [
      'a="b,c"; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
      'a="b,c"; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Secure',
    ],
    ['a=\\1 %[src]; Max-Age=0', 'a=\\1 %[src]; Max-Age=0; Secure'],
    ['a=1; Secure', 'a=1; Secure'],
    ['a=1;sEcUrE ;HttpOnly', 'a=1;sEcUrE ;HttpOnly'],
    ['a=1; \tSecure=no; Path=/', 'a=1; \tSecure=no; Path=/'],
    [`a=1;${' '.repeat(4000)}x`, `a=1;${' '.repeat(4000)}x; Secure`],
  ])('of a service is for TLS alone: %j', async (sent, arrives) => {
    expect(await kept([sent, 'b=2; Secure', sent])).toEqual([arrives, 'b=2; Secure', arrives])
  })

  test('of a service with very many cookies, or a very long one, arrives whole', async () => {
    const long = `a=${'; '.repeat(7000)}${'x'.repeat(14_000)}`
    expect(await kept([long])).toEqual([`${long}; Secure`])
    const many = Array.from({ length: 90 }, (_, index) => `cookie${index}=1`)
    expect(await kept(many)).toEqual(many.map((cookie) => `${cookie}; Secure`))
  })

  const planted = [
    `token=${SESSION}; Domain=example.com`,
    `token=${SESSION}`,
    `=token=${SESSION};domain = .example.com`,
    ` token =${TICKET}; DOMAIN=x`,
    `token="${SESSION}"`,
    'token=pts%5F1',
    `token-http=${SESSION}; Domain=example.com`,
    ` token-http =${SESSION}`,
  ]
  const own = [
    'session=1; Path=/; HttpOnly; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
    'token=eyJhbGciOiJIUzI1NiJ9.e30.k; Domain=example.com',
    'token=',
    'token-http=1',
    'Token=2',
    'x=pts_desc',
  ]

  test('never sets a session of the console, and nothing else is lost', async () => {
    const left = own.map((cookie) => `${cookie}; Secure`)
    expect(await kept([...own, ...planted])).toEqual(left)
    expect(await kept([...planted, ...own])).toEqual(left)
  })

  test('is not left behind empty', async () => {
    expect(await kept(planted)).toEqual([])
  })

  test('of a service at the host of the console sets none', async () => {
    expect(await kept([...own, ...planted], '127.0.0.1', '/tool')).toEqual([])
  })
})
