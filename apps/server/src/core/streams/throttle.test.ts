import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createThrottle } from './throttle.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const fail = (error: unknown) => {
  throw error
}

test('the first comes at once, a burst after it comes once, when the gap is over', async () => {
  const run = vi.fn(async () => undefined)
  const throttle = createThrottle(run, 250, fail)
  throttle.poke()
  expect(run).toHaveBeenCalledTimes(1)
  for (let i = 0; i < 50; i++) {
    await vi.advanceTimersByTimeAsync(4)
    throttle.poke()
  }
  expect(run).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(100)
  expect(run).toHaveBeenCalledTimes(2)
  await vi.advanceTimersByTimeAsync(1000)
  expect(run).toHaveBeenCalledTimes(2)
})

test('what comes while it runs is not lost, and it never runs twice at a time', async () => {
  let running = 0
  let most = 0
  const run = vi.fn(async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 400))
    running--
  })
  const throttle = createThrottle(run, 250, fail)
  throttle.poke()
  await vi.advanceTimersByTimeAsync(300)
  throttle.poke()
  await vi.advanceTimersByTimeAsync(2000)
  expect(run).toHaveBeenCalledTimes(2)
  expect(most).toBe(1)
})

test('an error is told and does not end it; a stop does', async () => {
  const onError = vi.fn()
  const run = vi.fn(async () => {
    throw new Error('no')
  })
  const throttle = createThrottle(run, 250, onError)
  throttle.poke()
  await vi.advanceTimersByTimeAsync(300)
  throttle.poke()
  await vi.advanceTimersByTimeAsync(300)
  expect(onError).toHaveBeenCalledTimes(2)
  throttle.poke()
  throttle.stop()
  await vi.advanceTimersByTimeAsync(1000)
  expect(run.mock.calls.length).toBeLessThanOrEqual(3)
})
