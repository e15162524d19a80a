import { expect, test, vi } from 'vitest'
import { createLiveBus } from '../../changes/live.ts'
import { createFeeds, type Topic } from './feeds.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

function createTopic(state: { json: string | undefined }) {
  const compute = vi.fn(async () => state.json)
  const topic: Topic = { key: 'topic', concerns: () => true, compute }
  return { topic, compute }
}

function createFollower() {
  const got: string[] = []
  const follower = { isBusy: false, send: (json: string) => void got.push(json), end: vi.fn() }
  return { follower, got }
}

const fail = (error: unknown) => {
  throw error
}

test('many followers of the same state cost one computation', async () => {
  const { topic, compute } = createTopic({ json: '[1]' })
  const feeds = createFeeds(createLiveBus(fail), fail)
  const all = Array.from({ length: 100 }, createFollower)
  for (const { follower } of all) feeds.follow(topic, follower)
  await settle()
  expect(compute).toHaveBeenCalledTimes(1)
  expect(all.every(({ got }) => got.length === 1)).toBe(true)
})

test('a slow reader misses states and then gets the newest', async () => {
  const state: { json: string | undefined } = { json: '[1]' }
  const { topic, compute } = createTopic(state)
  const bus = createLiveBus(fail)
  const { follower, got } = createFollower()
  const following = createFeeds(bus, fail).follow(topic, follower)
  await settle()
  follower.isBusy = true
  state.json = '[2]'
  bus.emit({ kind: 'figures', nodes: [1] })
  await vi.waitUntil(() => compute.mock.calls.length === 2)
  await settle()
  expect(got).toEqual(['[1]'])
  follower.isBusy = false
  following.resume()
  following.resume()
  expect(got).toEqual(['[1]', '[2]'])
})

test('a state that disappears ends the following; an unfollowed state is not computed', async () => {
  const state: { json: string | undefined } = { json: undefined }
  const { topic, compute } = createTopic(state)
  const bus = createLiveBus(fail)
  const { follower } = createFollower()
  const following = createFeeds(bus, fail).follow(topic, follower)
  await settle()
  expect(follower.end).toHaveBeenCalledTimes(1)
  following.stop()
  bus.emit({ kind: 'figures', nodes: [1] })
  await settle()
  expect(compute).toHaveBeenCalledTimes(1)
})
