import { connect, type OutgoingHttpHeaders } from 'node:http2'
import { processorMs } from '@postern/testkit/time'
import { sendRaw } from '@postern/testkit/wire'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { type RawUpstream, startRawUpstream } from '../../../../test/raw-upstream.ts'
import { visit } from '../../../../test/visitor.ts'

/** As much of a head as passes, with room for the rest of it. */
const LONG = 29_000
const AT_ONCE = 8
/** All of them together. */
const MOST_MS = 1000

let lab: HaproxyLab
let service: RawUpstream
let other: RawUpstream
let pid: number

beforeAll(async () => {
  // All requests come from one address, which sends more than the limit.
  lab = await makeHaproxyLab({ connectionsPerSource: 100_000 })
  service = await startRawUpstream()
  other = await startRawUpstream()
  await lab.apply([
    makeLabRoute(2, service.port, { domain: 'a.example.com' }),
    makeLabRoute(3, service.port, { domain: 'a.example.com', path: '/a/b', allowedIps: ['127.0.0.0/8'] }),
    makeLabRoute(4, other.port, { domain: 'other.example.com' }),
    makeLabRoute(5, other.port, {
      domain: 'guarded.example.com',
      signIn: { paths: ['/open'], expressions: [] },
    }),
  ])
  pid = await lab.pid()
})

afterAll(async () => {
  await lab.close()
  for (const each of [service, other]) await each.close()
})

const fill = (unit: string, length = LONG) => unit.repeat(Math.floor(length / unit.length))
const PTS = 'token=pts_1'
const UNITS = [
  ' ',
  '\t',
  ';',
  '=',
  'a',
  '%',
  '"',
  '%70',
  'p%74s',
  `${PTS};`,
  '; ',
  ' ;=',
  '&',
  ',',
  '.',
  'p',
  '+',
]

/** The first line and the headers of a request, for every part that a rule of ours reads. */
const REQUESTS: [name: string, first: string, lines: string[]][] = [
  ...UNITS.flatMap((unit): [string, string, string[]][] => [
    [`Cookie of ${unit}`, '/', [`Cookie: ${PTS}; a${fill(unit)}c=1`]],
    [`Cookie before the session of ${unit}`, '/', [`Cookie: a${fill(unit)}; ${PTS}`]],
    [`Content-Type of ${unit}`, '/', [`Content-Type: application/grpc${fill(unit)}x`]],
    [`Upgrade of ${unit}`, '/', ['Connection: upgrade', `Upgrade: h2${fill(unit)}x`]],
    [`Connection of ${unit}`, '/', [`Connection: close, upgrade${fill(unit)}x`]],
    [`TE of ${unit}`, '/', ['Content-Type: application/grpc', `TE: trailers${fill(unit)}x`]],
    [`Destination of ${unit}`, '/', [`Destination: https://a.example.com${fill(unit)}x`]],
    [`Host of ${unit}`, '/', [`Host: a.example.com${fill(unit)}x`]],
  ]),
  ...['&', ';', '=', '%', '%70', `${PTS}&`, 'a', '+', '%3D', `t%6Fken=p`].map(
    (unit): [string, string, string[]] => [`query of ${unit}`, `/?${fill(unit)}&${PTS}`, []],
  ),
  ...[
    '/',
    ';',
    '%',
    '%2f',
    '%41',
    '/.',
    '/..',
    '/;',
    '\\',
    '%5c',
    '%252f',
    'a',
    '/a',
    '..',
    ';/',
    '%2525',
  ].flatMap((unit): [string, string, string[]][] => [
    [`path of ${unit}`, `/${fill(unit, 8190)}`, []],
    [`long path of ${unit}`, `/a/b/${fill(unit)}`, []],
  ]),
  ...['x', 'x-', 'x-forwarded-', 'remote-', 'x_auth_request_', '.', '-', 'forwarded', 'x-client-ip'].flatMap(
    (unit): [string, string, string[]][] => [
      [`name of ${unit}`, '/', [`x-forwarded${fill(unit)}: 1`, 'x-auth-request-!: 1']],
      [`many names of ${unit}`, '/', Array.from({ length: 230 }, (_, i) => `${fill(unit, 90)}${i}: ${PTS}`)],
    ],
  ),
  ['Host of labels', '/', [`Host: ${fill('a.')}example.com!`]],
  ['many Cookie headers', '/', Array.from({ length: 230 }, () => `Cookie: ${fill('a;', 90)}${PTS}`)],
]

/**
 * HAProxy's processor time in ms for a head that is sent many times, beside another visitor, who waits for part of
 * it.
 */
async function costOf(head: string): Promise<number> {
  const before = processorMs(pid)
  const attack = Array.from({ length: AT_ONCE }, () => sendRaw(lab.httpsPort, head))
  const other = await visit({ port: lab.httpsPort, host: 'other.example.com' })
  expect(other.status).toBe(200)
  for (const answer of await Promise.all(attack))
    expect(answer).toMatch(/^HTTP\/1\.1 (200|400|404|431|502|503) /)
  return processorMs(pid) - before
}

function headOf(first: string, lines: string[]): string {
  const hasHost = lines.some((line) => line.startsWith('Host:'))
  const host = hasHost ? [] : ['Host: a.example.com']
  return [`GET ${first} HTTP/1.1`, ...host, 'Connection: close', ...lines, '', ''].join('\r\n')
}

test('no text of a visitor keeps another one waiting', async () => {
  const slow: [string, number][] = []
  for (const [name, first, lines] of REQUESTS) {
    const cost = await costOf(headOf(first, lines))
    if (cost > MOST_MS) slow.push([name, cost])
  }
  expect(slow).toEqual([])
  expect(await lab.pid()).toBe(pid)
  expect(await lab.command('show info')).toContain(`Pid: ${pid}`)
}, 240_000)

/** Tolerance for a busy machine, in ms for 200 requests; an unbounded header takes 900 to 1,700. */
const MARGIN = 300

/** Over HTTP/2 a path or a header is sent once: hundreds of requests with it take a few bytes each. */
async function costOfStreams(path: string, headers: OutgoingHttpHeaders = {}, count = 200): Promise<number> {
  const client = connect(`https://127.0.0.1:${lab.httpsPort}`, {
    servername: 'a.example.com',
    rejectUnauthorized: false,
  })
  const get = () =>
    new Promise((resolve) => {
      const request = client.request({ ':path': path, ':authority': 'a.example.com', ...headers })
      request.once('error', resolve).once('close', resolve).resume().end()
    })
  await get()
  const before = processorMs(pid)
  for (let left = count; left > 0; left -= 25) await Promise.all(Array.from({ length: 25 }, get))
  const cost = processorMs(pid) - before
  client.destroy()
  return cost
}

test('a path that programs read in many ways costs HAProxy little more than another', async () => {
  const plain = await costOfStreams('/a/b')
  const slow: [string, number][] = []
  for (const unit of [
    '/%20',
    '/...',
    '/.%20',
    '/a.',
    '/..',
    '/%20/a./../b',
    '%2561',
    '/;',
    'a%20/',
    '/%0a%u0061.',
  ])
    for (const length of [1000, 4000]) {
      const cost = await costOfStreams(`/a/b%20${fill(unit, length)}`)
      if (cost > 10 * plain + MARGIN) slow.push([`${length} of ${unit}`, cost])
    }
  expect(slow).toEqual([])
}, 120_000)

/** The longest field that is sent once. HAProxy joins all of them into one header, or reads them as one list. */
const crumbs = (unit: string) => Array.from({ length: 9 }, () => fill(unit, 2900))

/** Those headers that cost more than so many times a header of letters. */
async function findSlow(
  times: number,
  all: readonly OutgoingHttpHeaders[],
): Promise<[text: string, ms: number][]> {
  const plain: number[] = []
  for (let look = 0; look < 3; look++) plain.push(await costOfStreams('/', { cookie: crumbs('a') }))
  const most = times * Math.min(...plain) + MARGIN
  const slow: [string, number][] = []
  for (const headers of all) {
    const cost = await costOfStreams('/', headers)
    // Measured twice, because a machine may be slow once.
    if (cost > most && (await costOfStreams('/', headers)) > most)
      slow.push([JSON.stringify(headers).slice(0, 80), cost])
  }
  return slow
}

test('a cookie that names many sessions costs HAProxy little more than another', async () => {
  const units = [`${PTS};`, '%74oken=pts_1;', '%70%74%73%5f', `${PTS};%aB%Ab`, `=${PTS};`, ' \t=%20']
  const firsts = ['', `${PTS};`].map((first) => first + fill('a', 30))
  expect(
    await findSlow(
      10,
      units.flatMap((unit) => firsts.map((first) => ({ cookie: [first, ...crumbs(unit)] }))),
    ),
  ).toEqual([])
}, 120_000)

test('a query that names many sessions costs HAProxy little more than another', async () => {
  const plain = await costOfStreams(`/?${fill('a', 28_000)}`)
  const slow: [string, number][] = []
  for (const unit of [`${PTS}&`, '%74oken=pts_1&', 'abcdefghij&', 'aaaaaaaaa;', '=aaaaaaaaa&', '_________&'])
    for (const query of [`${PTS}&${fill(unit, 28_000)}`, `${fill(unit, 28_000)}&${PTS}`]) {
      const path = `/?${query}`
      const cost = await costOfStreams(path)
      if (cost > 5 * plain + MARGIN && (await costOfStreams(path)) > 5 * plain + MARGIN)
        slow.push([unit, cost])
    }
  expect(slow).toEqual([])
}, 120_000)

test('no list in a header does, where a service requires sign-in', async () => {
  const units = [',', ' ,', 'a,']
  const headers = ['accept', 'x-requested-with', 'cookie']
  const host = { ':authority': 'guarded.example.com' }
  expect(
    await findSlow(
      5,
      headers.flatMap((name) => units.map((unit) => ({ ...host, [name]: crumbs(unit) }))),
    ),
  ).toEqual([])
}, 120_000)

test('a cookie of separators costs no more than one of letters', async () => {
  const cost = { ';': 0, a: 0 }
  for (let round = 0; round < 3; round++)
    for (const unit of [';', 'a'] as const)
      cost[unit] += await costOf(headOf('/', [`Cookie: ${PTS}; a${fill(unit)}c=1`]))
  expect(cost[';']).toBeLessThan(5 * cost.a + 100)
}, 60_000)

test('no cookie of a service does', async () => {
  const values = UNITS.flatMap((unit) => [
    `${PTS}${fill(unit)}`,
    `${fill(unit)}${PTS}`,
    `a=1;${fill(unit)};Domain=x`,
  ])
  const many = Array.from({ length: 230 }, () => `Set-Cookie: ${fill(' ;', 90)}${PTS}\r\n`).join('')
  for (const lines of [...values.map((value) => `Set-Cookie: ${value}\r\n`), many]) {
    service.answer = `HTTP/1.1 200 OK\r\n${lines}Content-Length: 0\r\nConnection: close\r\n\r\n`
    expect(await costOf(headOf('/', []))).toBeLessThan(MOST_MS)
  }
  expect(await lab.command('show info')).toContain(`Pid: ${pid}`)
}, 120_000)
