import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HaproxyLab, makeHaproxyLab, makeLabRoute } from '../../../../test/haproxy-lab.ts'
import { type RawUpstream, startRawUpstream } from '../../../../test/raw-upstream.ts'
import { sendRaw, visit } from '../../../../test/visitor.ts'

/** As much of a head as passes, with room for the rest of it. */
const LONG = 29_000
const AT_ONCE = 8

let lab: HaproxyLab
let service: RawUpstream
let other: RawUpstream

beforeAll(async () => {
  lab = await makeHaproxyLab()
  service = await startRawUpstream()
  other = await startRawUpstream()
  await lab.apply([
    makeLabRoute(2, service.port, { domain: 'a.example.com' }),
    makeLabRoute(3, service.port, { domain: 'a.example.com', path: '/a/b', allowedIps: ['127.0.0.0/8'] }),
    makeLabRoute(4, other.port, { domain: 'other.example.com' }),
  ])
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

/** The first line of a request and the others, for everything that a rule of ours reads. */
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
  ...['x', 'x-', 'x-forwarded-', 'remote-', 'x_auth_', '.', '-', 'forwarded', 'x-client-ip'].flatMap(
    (unit): [string, string, string[]][] => [
      [`name of ${unit}`, '/', [`x-forwarded${fill(unit)}: 1`, 'x-auth-!: 1']],
      [`many names of ${unit}`, '/', Array.from({ length: 230 }, (_, i) => `${fill(unit, 90)}${i}: ${PTS}`)],
    ],
  ),
  ['Host of labels', '/', [`Host: ${fill('a.')}example.com!`]],
  ['many Cookie headers', '/', Array.from({ length: 230 }, () => `Cookie: ${fill('a;', 90)}${PTS}`)],
]

/** The longest wait of another visitor in ms, while all these are under way. */
async function longestWait(heads: string[]): Promise<number> {
  let isOver = false
  const attack = Promise.all(heads.map((head) => sendRaw(lab.httpsPort, head, { silence: 10_000 }))).finally(
    () => {
      isOver = true
    },
  )
  let longest = 0
  do {
    const start = performance.now()
    const answer = await visit({ port: lab.httpsPort, host: 'other.example.com' })
    expect(answer.status).toBe(200)
    longest = Math.max(longest, performance.now() - start)
  } while (!isOver)
  const answers = await attack
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 (200|400|404|431|502|503) /)
  return longest
}

/** The wait that these texts cause each time, in ms: a busy machine is slow once, a quadratic pattern always. */
async function repeatableWait(heads: string[]): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 3 && shortest > 1000; attempt++)
    shortest = Math.min(shortest, await longestWait(heads))
  return shortest
}

function headOf(first: string, lines: string[]): string {
  const hasHost = lines.some((line) => line.startsWith('Host:'))
  const host = hasHost ? [] : ['Host: a.example.com']
  return [`GET ${first} HTTP/1.1`, ...host, 'Connection: close', ...lines, '', ''].join('\r\n')
}

test('no text of a visitor keeps another one waiting', async () => {
  const pid = await lab.pid()
  const slow: [string, number][] = []
  for (const [name, first, lines] of REQUESTS) {
    const wait = await repeatableWait(Array.from({ length: AT_ONCE }, () => headOf(first, lines)))
    if (wait > 1000) slow.push([name, wait])
  }
  expect(slow).toEqual([])
  expect(await lab.pid()).toBe(pid)
  expect(await lab.command('show info')).toContain(`Pid: ${pid}`)
}, 240_000)

test('no cookie of a service does', async () => {
  const pid = await lab.pid()
  const values = UNITS.flatMap((unit) => [
    `${PTS}${fill(unit)}`,
    `${fill(unit)}${PTS}`,
    `a=1;${fill(unit)};Domain=x`,
  ])
  const many = Array.from({ length: 230 }, () => `Set-Cookie: ${fill(' ;', 90)}${PTS}\r\n`).join('')
  for (const lines of [...values.map((value) => `Set-Cookie: ${value}\r\n`), many]) {
    service.answer = `HTTP/1.1 200 OK\r\n${lines}Content-Length: 0\r\nConnection: close\r\n\r\n`
    const heads = Array.from({ length: AT_ONCE }, () => headOf('/', []))
    expect(await repeatableWait(heads)).toBeLessThan(1000)
  }
  expect(await lab.command('show info')).toContain(`Pid: ${pid}`)
}, 120_000)
