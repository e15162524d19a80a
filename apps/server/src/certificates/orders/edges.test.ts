import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLiveBus } from '../../changes/live.ts'
import { whenApplied } from './edges.ts'
import { EdgeNotReadyError } from './problems.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const bus = createLiveBus(() => undefined)
let applied: number[]
let lost: { id: number; name: string }[] = []
afterEach(() => {
  lost = []
})
const edges = {
  lost: () => lost,
  views: () =>
    applied.map((each, index) => ({ id: index + 1, name: `edge ${index + 1}`, inForce: { haproxy: each } })),
}
const report = (...each: number[]) => {
  applied = each
  bus.emit({ kind: 'edges' })
}
const wait = (signal = new AbortController().signal) =>
  whenApplied({ bus, edges }, { revision: 7, at: null }, signal)

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

test('of several edges it names those that did not take it', async () => {
  report(6, 7, 5)
  const waiting = expect(wait()).rejects.toThrow('within a minute: edge 1, edge 3')
  await vi.advanceTimersByTimeAsync(60_000)
  await waiting
})

test('an edge that has just broken off is waited for, and named', async () => {
  lost = [{ id: 9, name: 'Vienna' }]
  report(7)
  const waiting = expect(wait()).rejects.toThrow('within a minute: Vienna')
  await vi.advanceTimersByTimeAsync(60_000)
  await waiting
  const later = wait()
  lost = []
  bus.emit({ kind: 'edges' })
  await later
})

test('only edges of the domain count', async () => {
  report(6, 7, 5)
  await whenApplied({ bus, edges }, { revision: 7, at: [2] }, new AbortController().signal)
})

test('it ends when the order does', async () => {
  report(6)
  const controller = new AbortController()
  const waiting = expect(wait(controller.signal)).rejects.toThrow('gone')
  controller.abort(new Error('gone'))
  await waiting
  await expect(wait(controller.signal)).rejects.toThrow('gone')
})
