import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Offer } from './offer.ts'
import type { Published } from './published.ts'
import { createPublisher, type Publisher } from './publisher.ts'

const offer = (key: string): Offer => ({
  key,
  type: 'http',
  name: key,
  domain: `${key}.example`,
  backendPort: 80,
})
const published = (key: string): Published => ({
  key,
  state: 'published',
  address: `https://${key}.example`,
  problem: null,
})

let sent: string[][]
let answer: (services: readonly Offer[]) => Promise<Published[]>
let logged: string[]
let changes: number
let publisher: Publisher
let stop: AbortController
let ended: Promise<void>

beforeEach(() => {
  sent = []
  logged = []
  changes = 0
  answer = async (services) => services.map(({ key }) => published(key))
  stop = new AbortController()
  publisher = createPublisher({
    source: 'docker',
    send(_, services) {
      sent.push(services.map(({ key }) => key))
      return answer(services)
    },
    onChange: () => void changes++,
    log: (line) => logged.push(line),
    random: () => 0.99,
  })
  ended = publisher.run(stop.signal)
})
afterEach(async () => {
  vi.useRealTimers()
  stop.abort()
  await ended
})

const offers = (...keys: string[]) => publisher.offer({ services: keys.map(offer), problems: [] })
const sentTimes = (times: number) => until(`${times} sets`, () => sent.length === times && changes >= times)

test('the whole set goes to the server when it changes, and the log has the outcome of each service', async () => {
  offers('a')
  await sentTimes(1)
  offers('a')
  offers('a', 'b')
  await sentTimes(2)
  offers('b')
  await sentTimes(3)
  expect(sent).toEqual([['a'], ['a', 'b'], ['b']])
  expect(logged).toEqual([
    'docker: a is published at https://a.example',
    'docker: b is published at https://b.example',
    'docker: a is no longer published',
  ])
  expect(publisher.services()).toEqual([published('b')])
  expect(publisher.problems()).toEqual([])
})

test('an empty set is sent too: only so do services of an earlier run go', async () => {
  offers()
  await sentTimes(1)
  expect(sent).toEqual([[]])
})

test('nothing is sent before the source was read, and its last offer stays valid when it fails', async () => {
  publisher.sendAgain()
  publisher.fail("Docker isn't running")
  publisher.fail("Docker isn't running")
  expect(publisher.problems()).toEqual(["docker: Docker isn't running"])
  expect(logged).toEqual(["docker: Docker isn't running"])
  offers('a')
  await sentTimes(1)
  publisher.fail("Docker isn't running")
  expect(publisher.services()).toEqual([published('a')])
  expect(sent).toEqual([['a']])
})

test('after the connection was lost the set is sent again', async () => {
  offers('a')
  await sentTimes(1)
  publisher.hint()
  publisher.sendAgain()
  await sentTimes(2)
  expect(sent).toEqual([['a'], ['a']])
  expect(logged).toHaveLength(1)
})

test('a failure is logged once, retried with pauses, and at once when something changed on the server', async () => {
  answer = async () => {
    throw new Error('this node may not publish services')
  }
  offers('a')
  await sentTimes(1)
  expect(publisher.problems()).toEqual([
    'docker: the services could not be published: this node may not publish services',
  ])
  publisher.hint()
  await sentTimes(2)
  expect(logged).toHaveLength(1)
  answer = async (services) => services.map(({ key }) => published(key))
  publisher.hint()
  await sentTimes(3)
  expect(publisher.problems()).toEqual([])
})

test('a service that a person disabled in the console is shown as such', async () => {
  answer = async (services) => services.map(({ key }) => ({ ...published(key), state: 'disabled' }))
  offers('a')
  await sentTimes(1)
  expect(logged).toEqual(['docker: a is disabled in the console'])
})

test('a refused service is shown with the reason', async () => {
  answer = async () => [
    { key: 'a', state: 'refused', address: null, problem: 'domain is used by another node' },
  ]
  offers('a')
  await sentTimes(1)
  expect(logged).toEqual(['docker: a is refused: domain is used by another node'])
})

test('a refused service is tried again when something changed on the server, but not because of its own set', async () => {
  answer = async () => [{ key: 'a', state: 'refused', address: null, problem: 'domain leads elsewhere' }]
  offers('a')
  await sentTimes(1)
  publisher.hint()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(sent).toHaveLength(1)
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.advanceTimersByTime(11_000)
  publisher.hint()
  vi.useRealTimers()
  await sentTimes(2)
})

test('a refused service is tried again after a while', async () => {
  vi.useFakeTimers()
  answer = async () => [{ key: 'a', state: 'refused', address: null, problem: 'domain leads elsewhere' }]
  offers('a')
  await vi.advanceTimersByTimeAsync(1000)
  expect(sent).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(31_000)
  expect(sent).toHaveLength(2)
  answer = async (services) => services.map(({ key }) => published(key))
  await vi.advanceTimersByTimeAsync(61_000)
  expect(sent).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(sent).toHaveLength(3)
  stop.abort()
  vi.useRealTimers()
})

test('while a set is being sent, a newer one waits', async () => {
  let release = () => undefined as undefined
  answer = (services) =>
    new Promise((resolve) => {
      release = () => void resolve(services.map(({ key }) => published(key)))
    })
  offers('a')
  await until('the first set', () => sent.length === 1)
  offers('b')
  offers('c')
  expect(sent).toHaveLength(1)
  answer = async (services) => services.map(({ key }) => published(key))
  release()
  await until('the last set', () => sent.length === 2)
  expect(sent).toEqual([['a'], ['c']])
})
