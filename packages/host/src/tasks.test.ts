import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createBell, createQueue, createSingleFlight } from './tasks.ts'

describe('a queue', () => {
  test('runs one task at a time, in order, also after one that failed', async () => {
    const queue = createQueue()
    const order: number[] = []
    const first = Promise.withResolvers<void>()
    const failed = queue.run(async () => {
      await first.promise
      order.push(1)
      throw new Error('no')
    })
    const second = queue.run(async () => order.push(2))
    expect([queue.isBusy(), order]).toEqual([true, []])
    first.resolve()
    await expect(failed).rejects.toThrow('no')
    await second
    expect([queue.isBusy(), order]).toEqual([false, [1, 2]])
  })
})

describe('a single flight', () => {
  test('runs one at a time, and once more for all that was asked meanwhile', async () => {
    const gates: (() => void)[] = []
    let running = 0
    const flight = createSingleFlight(async () => {
      expect(++running).toBe(1)
      await new Promise<void>((resolve) => gates.push(resolve))
      running--
    })
    flight.trigger()
    expect(gates).toHaveLength(1)
    for (let i = 0; i < 200; i++) flight.trigger()
    gates[0]?.()
    await new Promise((resolve) => setImmediate(resolve))
    expect(gates).toHaveLength(2)
    gates[1]?.()
    await flight.idle()
    expect(gates).toHaveLength(2)
    flight.trigger()
    expect(gates).toHaveLength(3)
    flight.close()
    flight.trigger()
    gates[2]?.()
    await flight.idle()
    expect(gates).toHaveLength(3)
  })
})

describe('a single flight with a gap', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('the first run comes at once, a burst after it makes one, when the gap is over', async () => {
    const run = vi.fn(async () => undefined)
    const flight = createSingleFlight(run, 250)
    flight.trigger()
    expect(run).toHaveBeenCalledTimes(1)
    for (let i = 0; i < 50; i++) {
      await vi.advanceTimersByTimeAsync(4)
      flight.trigger()
    }
    expect(run).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(100)
    expect(run).toHaveBeenCalledTimes(2)
    await vi.advanceTimersByTimeAsync(1000)
    expect(run).toHaveBeenCalledTimes(2)
  })

  test('what is asked during a long run is not lost, and it never runs twice at a time', async () => {
    let running = 0
    let most = 0
    const run = vi.fn(async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 400))
      running--
    })
    const flight = createSingleFlight(run, 250)
    flight.trigger()
    await vi.advanceTimersByTimeAsync(300)
    flight.trigger()
    await vi.advanceTimersByTimeAsync(2000)
    expect(run).toHaveBeenCalledTimes(2)
    expect(most).toBe(1)
  })

  test('no run that waits for the gap comes after the end', async () => {
    const run = vi.fn(async () => undefined)
    const flight = createSingleFlight(run, 250)
    flight.trigger()
    flight.trigger()
    await vi.advanceTimersByTimeAsync(100)
    flight.close()
    await vi.advanceTimersByTimeAsync(1000)
    expect(run).toHaveBeenCalledTimes(1)
  })
})

describe('a bell', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  const { signal } = new AbortController()

  test('rings once for a burst, when it has been quiet or has lasted too long', async () => {
    const bell = createBell({ quiet: 100, most: 250 })
    let wakings = 0
    void bell.next(60_000, signal).then(() => wakings++)
    bell.ring()
    await vi.advanceTimersByTimeAsync(90)
    bell.ring()
    await vi.advanceTimersByTimeAsync(90)
    bell.ring()
    expect(wakings).toBe(0)
    await vi.advanceTimersByTimeAsync(75)
    expect(wakings).toBe(1)
  })

  test('a ring before the wait counts, and patience or the signal ends it', async () => {
    const bell = createBell()
    bell.ring()
    await vi.advanceTimersByTimeAsync(1)
    expect(await bell.next(60_000, signal)).toBe(false)
    const silent = bell.next(1000, signal)
    await vi.advanceTimersByTimeAsync(1001)
    expect(await silent).toBe(true)
    const controller = new AbortController()
    const aborted = bell.next(60_000, controller.signal)
    controller.abort()
    expect(await aborted).toBe(true)
  })
})
