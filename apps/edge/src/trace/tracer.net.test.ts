import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import { type TraceHint, type TraceQuestion, TraceSight } from '@postern/contract/why/trace'
import { createExec } from '@postern/host/processes/exec'
import { parseRouteLine } from '@postern/render/haproxy/maps/routes'
import { inSections, type ResolvedHttpRoute, type ResolvedRoute } from '@postern/render/resolved-route'
import { findFreePort } from '@postern/testkit/port'
import { until } from '@postern/testkit/until'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeRealCertificate } from '../../test/certificate.ts'
import {
  type HaproxyLab,
  makeConsoleRoute,
  makeHaproxyLab,
  makeLabRoute,
  PUBLIC_HOST,
} from '../../test/haproxy-lab.ts'
import { startUpstream, type Upstream } from '../../test/upstream.ts'
import type { HaproxyDriver } from '../drivers/haproxy/driver.ts'
import { createTracer, type Tracer } from './tracer.ts'

/** On this machine, where no tunnel is needed. */
const local = (id: number, port: number, changes: Partial<ResolvedHttpRoute> = {}) =>
  makeLabRoute(id, port, { node: { kind: 'local' }, ...changes })
const GUARDED = { paths: ['/open'], expressions: [] }

let lab: HaproxyLab
let driver: HaproxyDriver
let upstream: Upstream
let tls: Upstream
let hung: Upstream
let routes: ResolvedRoute[]
let tracer: Tracer
let wall: string | null
const said: EdgeMessage[] = []

beforeAll(async () => {
  lab = await makeHaproxyLab()
  driver = await lab.open()
  upstream = await startUpstream()
  tls = await startUpstream({ tls: await makeRealCertificate(9, ['s5.example.com']) })
  hung = await startUpstream({ answer: () => undefined })
  lab.signIns = [{ id: 1, domain: 's4.example.com', members: [] }]
  routes = [
    makeConsoleRoute(),
    local(2, upstream.port),
    local(3, upstream.port, { node: { kind: 'plain', id: 7, address4: '127.0.0.1' } }),
    local(4, upstream.port, { signIn: GUARDED, path: '/app', stripPath: true }),
    local(5, tls.port, { backend: { proto: 'https', host: '127.0.0.1', port: tls.port } }),
    local(6, tls.port),
    local(8, hung.port),
    local(9, await findFreePort()),
  ]
  expect(await lab.apply(routes, [await makeRealCertificate(2, ['s2.example.com'])])).toEqual([])
})
afterAll(async () => {
  await lab.close()
  for (const each of [upstream, tls, hung]) await each.close()
})
beforeEach(() => {
  said.length = 0
  upstream.seen.length = 0
  wall = null
  tracer = openTracer(driver)
})

function openTracer(haproxy: Pick<HaproxyDriver, 'lookup' | 'heldPorts'>): Tracer {
  const opened = createTracer({
    settings: {
      POSTERN_HTTP_PORT: lab.httpPort,
      POSTERN_HTTPS_PORT: lab.httpsPort,
      POSTERN_PORT_RANGE: { from: 32_660, to: 32_760 },
    },
    exec: createExec(),
    interface: 'pt-no-such0',
    haproxy,
    heldUdpPorts: () => [32_700],
    wall: () => wall,
    send: (message) => said.push(message),
    log: pino({ level: 'silent' }),
  })
  opened.setState({ peers: [], settings: { publicHost: PUBLIC_HOST, formerHosts: [] } })
  opened.setRoutes(inSections(routes))
  return opened
}

let traces = 0
async function trace(question: TraceQuestion, changes: Partial<TraceHint> = {}): Promise<TraceSight[]> {
  const id = ++traces
  const sights = () => said.flatMap((one) => (one.type === 'traced' && one.id === id ? one.sight : []))
  tracer.trace({ type: 'trace', id, ms: 9000, question, visitor: '198.51.100.7', node: null, ...changes })
  await until('the end', () => sights().at(-1)?.step === 'end')
  return sights()
}
const at = (host: string, path = '/', isPlain = false) => ({ kind: 'http', host, path, isPlain }) as const
const last = (sights: readonly TraceSight[]) => sights.at(-2)
const answerOf = async (host: string, path = '/') => {
  const sight = last(await trace(at(host, path)))
  return sight?.step === 'answer' ? [sight.result, sight.status, sight.path] : sight
}

test('what works is seen step by step, and the program gets one HEAD as HAProxy would send it', async () => {
  const sights = await trace(at('s2.example.com', '/page', true))
  expect(sights.map(({ step }) => step)).toEqual([
    'port',
    'certificate',
    'route',
    'access',
    'tunnel',
    'target',
    'answer',
    'end',
  ])
  expect(sights[1]).toMatchObject({ isTrusted: false, served: expect.stringContaining('BEGIN CERTIFICATE') })
  expect(sights[2]).toMatchObject({ found: { service: 2, node: 0, path: '/', isDisabled: false } })
  expect(last(sights)).toMatchObject({ result: 'answered', status: 200, path: '/page' })
  expect(upstream.seen).toMatchObject([
    {
      method: 'HEAD',
      url: '/page',
      headers: { host: 's2.example.com', 'x-forwarded-for': '198.51.100.7', 'x-forwarded-proto': 'https' },
    },
  ])
})

test('https, TLS on the wrong port, a program that hangs and one that is stopped are told apart', async () => {
  expect(await answerOf('s5.example.com')).toEqual(['answered', 200, '/'])
  expect(await answerOf('s6.example.com')).toEqual(['only-tls', null, '/'])
  expect(await answerOf('s8.example.com')).toEqual(['silent', null, '/'])
  expect(await answerOf('s9.example.com')).toMatchObject({ step: 'target', result: 'refused' })
  expect(await answerOf(PUBLIC_HOST)).toEqual(['self', null, null])
})

test('behind a sign-in the program is asked for nothing that a visitor would have to sign in for', async () => {
  expect(await answerOf('s4.example.com', '/app/secret')).toEqual(['answered', 200, '/'])
  expect(await answerOf('s4.example.com', '/app/open')).toEqual(['answered', 200, '/'])
  expect(upstream.seen.map(({ url }) => url)).toEqual(['/', '/'])
})

test('of a service of another node nothing is looked at', async () => {
  const sights = await trace(at('s3.example.com'), { node: 8 })
  expect(sights.map(({ step }) => step)).toEqual(['port', 'certificate', 'route', 'end'])
  expect(upstream.seen).toEqual([])
  expect((await trace(at('s3.example.com'), { node: 7 })).map(({ step }) => step)).toContain('tunnel')
})

test('only a target that this edge has judged is dialled, whatever HAProxy holds', async () => {
  tracer.setRoutes(
    inSections(routes.map((route) => (route.id === 2 ? { ...route, address: '127.0.0.9' } : route))),
  )
  expect(await answerOf('s2.example.com')).toMatchObject({
    step: 'target',
    address: null,
    result: 'no address',
  })
  tracer.setRoutes(new Map())
  expect(await answerOf('s2.example.com')).toMatchObject({
    step: 'target',
    address: null,
    result: 'no address',
  })
  expect(upstream.seen).toEqual([])
})

test.each([
  ['no service', 'x|0|-|0||'],
  ['a key as long as a page', `2|0|-|0||`],
])('a HAProxy that was taken over and answers %s ends the trace, not the connection', async (_, line) => {
  const found = { key: `s2.example.com/${'x'.repeat(5000)}/`, line: parseRouteLine(line) }
  const lookup = { ...driver.lookup, findRoute: async () => found }
  tracer = openTracer({ lookup, heldPorts: () => [] })
  const sights = await trace(at('s2.example.com'))
  expect(sights.at(-1)).toMatchObject({ problem: 'HAProxy answered something that cannot be.' })
  expect(sights.every((sight) => TraceSight.safeParse(sight).success)).toBe(true)
})

test("a wall, a port that others hold, and one that is nobody's end the way", async () => {
  wall = 'Visitors cannot reach anything until …'
  expect(await trace(at('s2.example.com'))).toMatchObject([{ step: 'port', wall }, { step: 'end' }])
  wall = null
  const udp = (port: number) => trace({ kind: 'port', proto: 'udp', port })
  expect(await udp(32_700)).toMatchObject([{ closed: 'held' }, { step: 'end' }])
  expect(await udp(53)).toMatchObject([{ closed: 'range' }, { step: 'end' }])
  expect(await udp(32_701)).toMatchObject([{ closed: null }, { found: null }, { step: 'end' }])
})

test('more than four at a time are sent away, and a bound is kept', async () => {
  const since = performance.now()
  const slow = Array.from({ length: 4 }, () => trace(at('s8.example.com'), { ms: 1000 }))
  expect(await trace(at('s2.example.com'))).toEqual([
    { step: 'end', problem: 'The edge is looking at other addresses. Try again in a moment.' },
  ])
  for (const sights of await Promise.all(slow)) expect(last(sights)).toMatchObject({ result: 'silent' })
  expect(performance.now() - since).toBeLessThan(6000)
  expect(await answerOf('s2.example.com')).toEqual(['answered', 200, '/'])
})
