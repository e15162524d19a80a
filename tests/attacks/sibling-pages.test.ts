import { createHmac } from 'node:crypto'
import { parseBypass } from '@postern/net/bypass'
import { askHttp2 } from '@postern/testkit/http2-wire'
import { shared } from '@postern/testkit/shared'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../apps/edge/test/haproxy-lab.ts'
import { HOST } from './lab/proxy-lab.ts'
import { type Recorder, startRecorder } from './lab/recorder.ts'

/**
 * What a page of b.example.com can do to a.example.com in a visitor's browser: set cookies for both, and send requests
 * with the visitor's session, as they are one site.
 */
const KEY = { id: 'a', secret: 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq' }
const OPEN_HOST = 'open.example.com'

let service: Recorder
let server: Recorder
let count = 0

const lab = shared(() => makeHaproxyLab({ connectionsPerSource: 4000 }))
beforeAll(async () => {
  service = await startRecorder('service')
  server = await startRecorder('server', lab.serverSocket)
  lab.signInKeys = [KEY]
  lab.signIns = [{ id: 1, domain: HOST, members: [7, 9] }]
  const problems = await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, service.port, { domain: HOST, signIn: parseBypass('/hook').bypass }),
    makeLabRoute(3, service.port, { domain: OPEN_HOST }),
  ])
  expect(problems).toEqual([])
})
afterAll(async () => {
  for (const each of [service, server]) await each.close()
})

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function seal(member: string, email: string): string {
  const exp = Math.floor(Date.now() / 1000) + 36_000
  const text = `${part({ alg: 'HS256', kid: KEY.id })}.${part({ member, email, exp })}`
  return `${text}.${createHmac('sha256', KEY.secret).update(text).digest('base64url')}`
}
const ANN = `__Host-postern=${seal('7', 'ann@example.com')}`
const EVE = `__Host-postern=${seal('9', 'eve@example.com')}`

interface Asked {
  method?: string
  target?: string
  host?: string
}

async function send(lines: string[], { method = 'GET', target = '/', host = HOST }: Asked = {}) {
  const id = String(++count)
  const head = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    `X-Attack: ${id}`,
    'Connection: close',
    ...lines,
  ]
  const [status] = statusesIn(await sendRaw(lab.httpsPort, `${head.join('\r\n')}\r\n\r\n`))
  return { status, ...seenBy(id) }
}

function seenBy(id: string) {
  const { headers } = service.requests.find((request) =>
    request.headers.some(([name, value]) => name === 'x-attack' && value === id),
  ) ?? { headers: undefined }
  const find = (wanted: string) => headers?.find(([name]) => name === wanted)?.[1]
  return { isReached: headers !== undefined, user: find('remote-user'), cookie: find('cookie') }
}

describe.concurrent('a cookie of a sibling domain', () => {
  test.each([
    ['the session alone', ANN, 'ann@example.com'],
    ['the session behind others', `a=1; b=2; ${ANN}; c=3`, 'ann@example.com'],
    ['the session without blanks', `a=1;${ANN};c=3`, 'ann@example.com'],
    ['a planted one behind a comma, after it', `${ANN}; a=b, ${EVE}`, 'ann@example.com'],
    ['a planted one behind a comma, before it', `a=b, ${EVE}; ${ANN}`, 'ann@example.com'],
    ['garbage behind a comma', `${ANN}; a=b, __Host-postern=x`, 'ann@example.com'],
    ['a planted one alone', `a=b, ${EVE}`, undefined],
    ['a planted one behind a tab', `a=b;\t${EVE}`, undefined],
    ['a planted one behind another blank', `a=b; \u00a0${EVE}`, undefined],
    ['a planted one in a name', `x,${EVE}`, undefined],
    ['a planted one in quotes', `a="; ${EVE.replace('=', '"=')}`, undefined],
    ['an open quote before it', `a="x; ${ANN}`, 'ann@example.com'],
    ['an open quote around it', `a="x; ${ANN}; b=y"`, 'ann@example.com'],
  ])('neither brings a session nor hides one: %s', async (_, cookie, user) => {
    const seen = await send([`Cookie: ${cookie}`])
    expect(seen.user).toBe(user)
    expect(seen.cookie ?? '').not.toContain('__Host-postern')
  })
})

const UPGRADE = [
  'Upgrade: websocket',
  'Connection: upgrade',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
]
const SIBLING = ['Sec-Fetch-Site: same-site']
const OLD_SIBLING = ['Origin: https://b.example.com']

describe.concurrent('a page of a sibling domain', () => {
  test.each([
    ['opens a WebSocket', {}, [...SIBLING, ...UPGRADE]],
    ['opens a WebSocket in an older browser', {}, [...OLD_SIBLING, ...UPGRADE]],
    ['sends a form', { method: 'POST' }, [...SIBLING, 'Sec-Fetch-Mode: navigate', 'Content-Length: 0']],
    ['sends a form in an older browser', { method: 'POST' }, [...OLD_SIBLING, 'Content-Length: 0']],
    ['sends from a page without an origin', { method: 'POST' }, ['Origin: null', 'Content-Length: 0']],
    ['deletes', { method: 'DELETE' }, SIBLING],
  ])('%s without the session of its visitor', async (_, asked, lines) => {
    expect(await send([`Cookie: ${ANN}`, ...lines], asked)).toMatchObject({ status: 403, isReached: false })
  })

  test('opens a WebSocket over HTTP/2 without it', async () => {
    const id = String(++count)
    const fields: [string, string][] = [
      [':method', 'CONNECT'],
      [':protocol', 'websocket'],
      [':scheme', 'https'],
      [':authority', HOST],
      [':path', '/'],
      ['sec-websocket-version', '13'],
      ['x-attack', id],
      ['cookie', ANN],
    ]
    expect(await askHttp2(lab.httpsPort, [...fields, ['sec-fetch-site', 'same-site']])).toBe(403)
    expect(await askHttp2(lab.httpsPort, [...fields, ['origin', 'https://b.example.com']])).toBe(403)
    expect(seenBy(id).isReached).toBe(false)
  })

  test.each([
    ['links to it', {}, [...SIBLING, 'Sec-Fetch-Mode: navigate']],
    ['shows its pictures', {}, [...SIBLING, 'Sec-Fetch-Mode: no-cors']],
    ['asks, before it sends', { method: 'OPTIONS' }, [...SIBLING, 'Origin: https://b.example.com']],
  ])('%s with it', async (_, asked, lines) => {
    expect(await send([`Cookie: ${ANN}`, ...lines], asked)).toMatchObject({ user: 'ann@example.com' })
  })

  test('sends to paths without sign-in, and to services without, as before', async () => {
    const post = { method: 'POST' }
    const lines = [...SIBLING, ...OLD_SIBLING, 'Content-Length: 0']
    expect(await send(lines, { ...post, target: '/hook' })).toMatchObject({ isReached: true })
    expect(await send(lines, { ...post, host: OPEN_HOST })).toMatchObject({ isReached: true })
  })
})

test.each([
  ['its own page', ['Sec-Fetch-Site: same-origin', `Origin: https://${HOST}`]],
  ['its own page, which hides its origin', ['Sec-Fetch-Site: same-origin', 'Origin: null']],
  ['its own page in an older browser', [`Origin: https://${HOST.toUpperCase()}:8443`]],
  ['a person', ['Sec-Fetch-Site: none']],
  ['a program', []],
])('what comes from %s counts with its session', async (_, lines) => {
  for (const more of [['Content-Length: 0'], UPGRADE]) {
    const method = more === UPGRADE ? 'GET' : 'POST'
    expect(await send([`Cookie: ${ANN}`, ...lines, ...more], { method })).toMatchObject({
      user: 'ann@example.com',
    })
  }
})
