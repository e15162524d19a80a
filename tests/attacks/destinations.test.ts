import { createHmac } from 'node:crypto'
import { parseBypass } from '@postern/net/bypass'
import { shared } from '@postern/testkit/shared'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeConsoleRoute, makeHaproxyLab, makeLabRoute } from '../../apps/edge/test/haproxy-lab.ts'
import { HOST } from './lab/proxy-lab.ts'
import { type Recorder, startRecorder } from './lab/recorder.ts'

const KEY = { id: 'a', secret: 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq' }

let service: Recorder
let count = 0

const lab = shared(() => makeHaproxyLab({ connectionsPerSource: 4000 }))
beforeAll(async () => {
  service = await startRecorder('service')
  lab.signInKeys = [KEY]
  lab.signIns = [{ id: 1, domain: HOST, members: [7] }]
  // One program, of which a part is open.
  const problems = await lab.apply([
    makeConsoleRoute(),
    makeLabRoute(2, service.port, { domain: HOST, signIn: parseBypass('^/share/').bypass }),
    makeLabRoute(3, service.port, { domain: HOST, path: '/free' }),
  ])
  expect(problems).toEqual([])
})
afterAll(() => service.close())

/** @returns the status, and whether the service got it */
async function bring(method: string, from: string, goals: string[], lines: string[] = []) {
  const id = String(++count)
  const to = goals.map((goal) => `Destination: ${goal}`)
  const head = [`${method} ${from} HTTP/1.1`, `Host: ${HOST}`, `X-Attack: ${id}`, 'Connection: close']
  const answer = await sendRaw(lab.httpsPort, [...head, ...to, ...lines, '', ''].join('\r\n'))
  const isReached = service.requests.some(({ headers }) => headers.some(([, value]) => value === id))
  return { goals, status: statusesIn(answer)[0], isReached }
}

function session(): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { member: '7', email: 'ann@example.com', exp: Math.floor(Date.now() / 1000 + 3600) }
  const text = `${part({ alg: 'HS256', kid: KEY.id })}.${part(claims)}`
  return `Cookie: __Host-postern=${text}.${createHmac('sha256', KEY.secret).update(text).digest('base64url')}`
}

/** Below `/free`. */
const HERE = [
  '/free/b',
  `https://${HOST}/free/b%5B1%5D;x.txt`,
  `https://${HOST}:8443/free`,
  `http://x/free/%C3%A4`,
]
const ELSEWHERE = [
  `https://${HOST}/admin`,
  `HTTPS://${HOST}/admin`,
  `https://${HOST}`,
  '/admin',
  'admin',
  '../admin',
  '//x/admin',
  `https://x//free/admin`,
  '/free/../admin',
  '/free/..%2fadmin',
  '/free/%2e%2e/admin',
  '/free/x/../../admin',
  '/free\\..\\admin',
  '/free/..;/admin',
  '/freer/x',
  'https:///free/admin',
  'https:/free/admin',
  'https://x\\..\\admin/free/b',
  'https://x?/free/b',
  'https://x#/free/b',
  '/free/%\t2e%\t2e/admin',
  `/free/${'..%2f'.repeat(300)}admin`,
]

/** Beside `^/share/`, the path that needs no sign-in. */
const CLOSED = [
  '/admin',
  'admin',
  'share/b',
  '/share',
  '/share/../admin',
  '/share/..%2fadmin',
  '/share/%2e%2e/admin',
  '/share/%\t2e%\t2e/admin',
  '/share/..;/admin',
  '/share/b?/../../admin',
  '/share/b#/../../admin',
  '//share/admin',
  'https:///share/admin',
  'https://x\\admin/share/b',
  'https://x?/share/b',
  '/%73hare/../admin',
  '/share\\..\\admin',
]

/** As WebDAV names them, and as a program may that takes methods of any case. */
const METHODS = ['COPY', 'MOVE', 'move']

test.each(METHODS)('%s takes nothing from a path that needs no sign-in to one that does', async (method) => {
  for (const goal of ['/share/b', `https://${HOST}/share/c/%C3%A4%20b.txt`, `https://${HOST}:8443/share/`])
    expect(await bring(method, '/share/a', [goal])).toMatchObject({ status: 200, isReached: true })
  for (const goal of [
    ...CLOSED,
    `https://${HOST}${CLOSED[0]}`,
    `http://x${CLOSED[0]}`,
    `https://${HOST}`,
    '',
  ]) {
    const { status, isReached } = await bring(method, '/share/a', [goal])
    expect([goal, isReached]).toEqual([goal, false])
    expect([400, 401]).toContain(status)
  }
  for (const goals of [
    ['/share/b', '/admin'],
    ['/admin', '/share/b'],
  ])
    expect(await bring(method, '/share/a', goals)).toEqual({ goals, status: 400, isReached: false })
})

test.each(METHODS)('%s takes nothing from one service to another', async (method) => {
  for (const goals of [...ELSEWHERE.map((goal) => [goal]), ['/free/b', '/admin'], ['/admin', '/free/b']])
    expect(await bring(method, '/free/a', goals)).toEqual({ goals, status: 400, isReached: false })
})

test.each(METHODS)('%s goes where its own service is', async (method) => {
  for (const goal of HERE)
    expect(await bring(method, '/free/a', [goal])).toMatchObject({ status: 200, isReached: true })
  for (const goal of [`https://${HOST}/b`, '/dir;x/%2523.txt', 'container/object', `https://${HOST}/b%2Fc`])
    expect(await bring(method, '/a', [goal], [session()])).toMatchObject({ status: 200, isReached: true })
  expect(await bring(method, '/free/a', [])).toMatchObject({ status: 200, isReached: true })
})
