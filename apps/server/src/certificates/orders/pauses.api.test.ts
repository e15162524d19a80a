import type { IncomingMessage } from 'node:http'
import type { FrontAnswer } from '@postern/testkit/authority/front'
import { msOf, problemOf, useOrderDesk, VALID } from '@postern/testkit/authority/order-desk'
import { until } from '@postern/testkit/until'
import { expect, test } from 'vitest'

const desk = useOrderDesk()

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const OF_ACCOUNT =
  'too many new orders (300) from this account in the last 3h0m0s: see https://example.com/docs/limits/'

const limit = (seconds: number, detail: string, more: object = {}): FrontAnswer => ({
  status: 429,
  headers: { 'retry-after': String(seconds) },
  body: problemOf('rateLimited', detail, more),
})
const atNewOrder = (answer: FrontAnswer) => {
  desk.front.intercept = ({ url }: IncomingMessage) => (url === '/order-plz' ? answer : undefined)
}
const allowAll = () => {
  desk.front.intercept = () => undefined
}
const waits = (detail: string) => ({
  ...{ status: 'pending', kind: 'self-signed', step: 'queued' },
  problem: { code: 'rate-limit', detail },
})
const createMany = async (names: readonly string[]) => {
  const ids: number[] = []
  for (const name of names) ids.push(await desk.create(`${name}.example.com`))
  return ids
}
const whenAllAre = async (ids: readonly number[], what: object) => {
  for (const id of ids) await desk.whenIs(id, what)
}
const left = async (id: number) => msOf((await desk.read(id)).nextTryAt) - Date.now() - desk.ahead

test('a limit of the whole account stops all other orders; each row shows until when and why', async () => {
  atNewOrder(limit(3 * 3600, OF_ACCOUNT))
  const [first = 0] = await createMany(['first'])
  await desk.whenIs(first, waits(OF_ACCOUNT))
  const others = await createMany(['a', 'b', 'c', 'd', 'e'])
  await whenAllAre(others, waits(OF_ACCOUNT))
  for (const id of [first, ...others]) expect(Math.abs((await left(id)) - 3 * HOUR)).toBeLessThan(2 * MINUTE)
  await desk.restart()
  await whenAllAre(others, waits(OF_ACCOUNT))
  expect((await desk.orders()).map(({ failures }) => failures)).toEqual(Array(6).fill(0))
  allowAll()
  await desk.setAhead(3 * HOUR + MINUTE)
  await whenAllAre([first, ...others], VALID)
  // The refused one, and each of the others once.
  expect(desk.placed()).toEqual({ asked: 7, taken: 6 })
})

test('after the wait one order tries for all, and waits longer when it is refused again', async () => {
  atNewOrder(limit(1, OF_ACCOUNT))
  const [first = 0] = await createMany(['first'])
  await desk.whenIs(first, waits(OF_ACCOUNT))
  const others = await createMany(['a', 'b', 'c'])
  // Whatever it asks for, at least a minute.
  expect(await left(first)).toBeGreaterThan(40_000)
  await desk.setAhead(2 * MINUTE)
  await until('one to ask', () => desk.placed().asked === 2)
  await until('a longer wait', async () => (await left(first)) > 80_000)
  await whenAllAre(others, waits(OF_ACCOUNT))
  allowAll()
  await desk.setAhead(6 * MINUTE)
  await whenAllAre([first, ...others], VALID)
  expect(desk.placed()).toEqual({ asked: 6, taken: 4 })
})

test.each([
  [
    'its words',
    limit(3 * 3600, 'too many failed authorizations (5) for "limited.example.com" in the last 1h'),
  ],
  [
    'its words about the domain above',
    limit(3 * 3600, 'too many certificates already issued for: example.com'),
  ],
  ['its words about the set of names', limit(3 * 3600, 'already issued for this exact set of identifiers')],
  [
    'a part of its problem',
    limit(3 * 3600, 'too many', {
      subproblems: [{ detail: 'this', identifier: { type: 'dns', value: 'limited.example.com' } }],
    }),
  ],
])('a limit of one name, according to %s, makes only that name wait', async (_, answer) => {
  atNewOrder(answer)
  const [limited = 0] = await createMany(['limited'])
  await desk.whenIs(limited, { status: 'failed', step: null, problem: { code: 'rate-limit' } })
  expect(await left(limited)).toBeGreaterThan(2 * HOUR)
  allowAll()
  await whenAllAre(await createMany(['well']), VALID)
})

test.each([
  ['503', { status: 503, headers: { 'retry-after': '600' }, body: '' }, 'authority'],
  ['429 without words', { status: 429, headers: { 'retry-after': '600' }, body: 'slow down' }, 'rate-limit'],
])('a directory that answers %s makes all orders wait', async (_, answer, code) => {
  desk.front.intercept = ({ url }) => (url === '/dir' ? answer : undefined)
  const [first = 0] = await createMany(['first'])
  await desk.whenIs(first, { status: 'pending', step: 'queued', problem: { code } })
  const others = await createMany(['a', 'b'])
  await whenAllAre(others, { step: 'queued', problem: { code } })
  expect(desk.front.asked).toEqual(['GET /dir'])
  expect(Math.abs((await left(first)) - 10 * MINUTE)).toBeLessThan(MINUTE)
  allowAll()
  await desk.setAhead(11 * MINUTE)
  await whenAllAre([first, ...others], VALID)
})

test('neither an authority nor a clock that was set back makes all orders wait for more than a day', async () => {
  atNewOrder(limit(999_999_999, OF_ACCOUNT))
  const [first = 0] = await createMany(['first'])
  await desk.whenIs(first, waits(OF_ACCOUNT))
  expect(await left(first)).toBeLessThanOrEqual(DAY)
  expect(await left(first)).toBeGreaterThan(DAY - HOUR)
  allowAll()
  await desk.setAhead(-10 * DAY)
  await desk.whenIs(first, VALID)
})

test('Try again lets one order try at once and, if it succeeds, all others', async () => {
  atNewOrder(limit(3 * 3600, OF_ACCOUNT))
  const ids = await createMany(['first'])
  await whenAllAre(ids, waits(OF_ACCOUNT))
  ids.push(...(await createMany(['a', 'b', 'c'])))
  await desk.client.post(`/api/domains/${ids[2]}/certificate/retry`)
  await until('one to ask', () => desk.placed().asked === 2)
  await whenAllAre(ids, waits(OF_ACCOUNT))
  allowAll()
  await desk.client.post(`/api/domains/${ids[2]}/certificate/retry`)
  await whenAllAre(ids, VALID)
  expect(desk.placed()).toEqual({ asked: 6, taken: 4 })
})

test('orders under way go on, even after a restart', async () => {
  await desk.edge.pause(true)
  const [early = 0] = await createMany(['early'])
  await desk.whenIs(early, { step: 'preparing' })
  atNewOrder(limit(3 * 3600, OF_ACCOUNT))
  const [late = 0] = await createMany(['late'])
  await desk.whenIs(late, waits(OF_ACCOUNT))
  await desk.restart()
  await desk.whenIs(early, VALID)
  await desk.whenIs(late, waits(OF_ACCOUNT))
  expect(desk.placed()).toEqual({ asked: 2, taken: 1 })
})

test('an interrupted order is kept, and goes on after the wait', async () => {
  desk.front.intercept = ({ url }) =>
    url?.startsWith('/finalize-order/') ? limit(600, 'too many requests') : undefined
  const [id = 0] = await createMany(['first'])
  await desk.whenIs(id, waits('too many requests'))
  allowAll()
  await desk.setAhead(11 * MINUTE)
  await desk.whenIs(id, VALID)
  expect(desk.placed()).toEqual({ asked: 1, taken: 1 })
})
