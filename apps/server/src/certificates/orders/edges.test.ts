import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLiveBus } from '../../changes/live.ts'
import { whenApplied } from './edges.ts'
import { EdgeNotReadyError } from './problems.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const bus = createLiveBus(() => undefined)
let applied: number[]
const edges = { views: () => applied.map((each) => ({ inForce: { haproxy: each } })) }
const report = (...each: number[]) => {
  applied = each
  bus.emit({ kind: 'edges' })
}
const wait = (signal = new AbortController().signal) => whenApplied({ bus, edges }, 7, signal)

test('it resolves once every connected edge has applied it, and not without an edge', async () => {
  report()
  const done = vi.fn()
  const waiting = wait().then(done)
  for (const each of [[6], [7, 6], []]) {
    report(...each)
    await Promise.resolve()
    expect(done).not.toHaveBeenCalled()
  }
  report(7, 9)
  await waiting
  expect(done).toHaveBeenCalled()
})

test('after a minute it reports that the edge did not take it', async () => {
  report(6)
  const waiting = expect(wait()).rejects.toThrow(EdgeNotReadyError)
  await vi.advanceTimersByTimeAsync(60_000)
  await waiting
})

test('it ends when the order does', async () => {
  report(6)
  const controller = new AbortController()
  const waiting = expect(wait(controller.signal)).rejects.toThrow('gone')
  controller.abort(new Error('gone'))
  await waiting
  await expect(wait(controller.signal)).rejects.toThrow('gone')
})
