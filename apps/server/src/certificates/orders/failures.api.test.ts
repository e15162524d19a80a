import { msOf, NOWHERE, problemOf, useOrderDesk, VALID } from '@postern/testkit/authority/order-desk'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'
import { LookupError } from '../../core/domains/resolver.ts'

const desk = useOrderDesk()

/** After our own check of the name, and before the authority's. */
async function change(domain: string, ours: string[] | LookupError, theirs: string[] | 'none') {
  await desk.edge.pause(true)
  const id = await desk.create(domain)
  await desk.whenIs(id, { step: 'preparing' })
  desk.dns.set(domain, ours)
  desk.names.answers.set(domain, theirs)
  await desk.edge.pause(false)
  return await desk.whenIs(id, { status: 'failed' })
}

test('no such name', async () => {
  const { problem } = await change('none.example.com', new LookupError('absent'), 'none')
  expect(problem).toMatchObject({ code: 'dns', found: [], expected: ['203.0.113.1'] })
  expect(problem?.detail).toContain('none.example.com')
})

test('a name that points elsewhere', async () => {
  const { problem } = await change('away.example.com', ['198.51.100.7'], [NOWHERE])
  expect(problem).toMatchObject({ code: 'dns', found: ['198.51.100.7'], expected: ['203.0.113.1'] })
})

test('an unreachable port 80', async () => {
  const certificate = await change('here.example.com', ['203.0.113.1'], [NOWHERE])
  expect(certificate.problem).toMatchObject({ code: 'unreachable', found: ['203.0.113.1'] })
  expect(certificate.problem?.detail).toContain('here.example.com')
  expect(certificate.kind).toBe('self-signed')
})

test.each([
  ['caa', 403, 'caa'],
  ['rejectedIdentifier', 400, 'rejected'],
  ['externalAccountRequired', 403, 'account'],
  ['serverInternal', 500, 'authority'],
])('%s', async (type, status, code) => {
  const detail = 'In its\n\u202Eown words'
  desk.front.intercept = ({ url }) =>
    url === '/order-plz' ? { status, body: problemOf(type, detail) } : undefined
  const certificate = await desk.whenIs(await desk.create('no.example.com'), { status: 'failed' })
  expect(certificate.problem).toMatchObject({ code, detail: 'In its own words' })
  expect(certificate.error).toBe('In its own words')
})

test('a rate limit, with the time it ends', async () => {
  const retryAt = Date.now() + 5 * 3_600_000
  desk.front.intercept = ({ url }) =>
    url === '/order-plz'
      ? {
          status: 429,
          headers: { 'retry-after': new Date(retryAt).toUTCString() },
          body: problemOf('rateLimited', 'too many certificates for many.example.com'),
        }
      : undefined
  const certificate = await desk.whenIs(await desk.create('many.example.com'), { status: 'failed' })
  expect(certificate.problem?.code).toBe('rate-limit')
  expect(Math.abs(msOf(certificate.nextTryAt) - retryAt)).toBeLessThan(2000)
})

test.each([
  ['garbage', { status: 200, body: '<html>' }, 'named no address'],
  ['an error page', { status: 502, body: '<html>' }, 'status 502'],
  [
    'other JSON',
    { status: 201, headers: { location: 'https://x.example/1' }, body: { status: 'odd' } },
    'cannot be understood',
  ],
  ['far too much', { status: 200, body: 'x'.repeat(1_000_000) }, 'too long'],
])('an authority that answers with %s', async (_, answer, words) => {
  desk.front.intercept = ({ url }) => (url === '/order-plz' ? answer : undefined)
  const certificate = await desk.whenIs(await desk.create('odd.example.com'), { status: 'failed' })
  expect(certificate.problem?.code).toBe('authority')
  expect(certificate.problem?.detail).not.toContain('<')
  expect(certificate.problem?.detail).toContain(words)
})

test('an authority that hangs, which delays no other domain', async () => {
  desk.front.intercept = ({ url }) => (url === '/order-plz' ? 'hang' : undefined)
  const stuck = await desk.create('stuck.example.com')
  await until('the order to be placed', () => desk.front.asked.includes('POST /order-plz'))
  desk.front.intercept = () => undefined
  await desk.whenIs(await desk.create('well.example.com'), VALID)
  const certificate = await desk.whenIs(stuck, { status: 'failed', problem: { code: 'authority' } })
  expect(certificate.problem?.detail).toContain('did not answer within')
})

test('an authority that hangs does not keep the server from stopping; the order goes on later', async () => {
  desk.front.intercept = ({ url }) => (url === '/order-plz' ? 'hang' : undefined)
  const id = await desk.create('stuck.example.com')
  await until('the order to be placed', () => desk.front.asked.includes('POST /order-plz'))
  const before = performance.now()
  await desk.stop({ keepData: true })
  // At once, with a margin of five times two seconds; the authority's timeout is 15 s.
  expect(performance.now() - before).toBeLessThan(10_000)
  desk.front.intercept = () => undefined
  await desk.start({ dataDir: desk.server.dataDir })
  await desk.whenIs(id, VALID)
  expect((await desk.orders())[0]?.failures).toBe(0)
})

test('an authority that is down, until Try again', async () => {
  const bringBack = await desk.takeDown()
  const id = await desk.create('down.example.com')
  const certificate = await desk.whenIs(id, { status: 'failed', problem: { code: 'authority' } })
  await bringBack()
  expect(certificate.problem?.detail).toContain('could not be reached')
  const wait = msOf(certificate.nextTryAt) - msOf(certificate.problem?.at)
  expect(wait).toBeGreaterThan(40_000)
  expect(wait).toBeLessThan(62_000)
  await desk.client.post(`/api/domains/${id}/certificate/retry`)
  await desk.whenIs(id, VALID)
})
