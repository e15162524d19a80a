import { expect, test } from 'vitest'
import { createMemoryReclaimer } from './memory.ts'

/** @returns at which of these readings of its memory, a second apart, HAProxy was asked to give some back */
async function askedAt(held: readonly number[], pid = (_second: number) => 1): Promise<number[]> {
  const asked: number[] = []
  let second = 0
  const reclaimer = createMemoryReclaimer(
    async () => void asked.push(second),
    () => second * 1000,
  )
  for (; second < held.length; second++) await reclaimer.look({ pid: pid(second), held: held[second] ?? 0 })
  return asked
}

const times = (count: number, held: number) => Array<number>(count).fill(held)

test('is asked for once, when visitors have left half of it and no more goes', async () => {
  expect(await askedAt([5, 400, 300, 201, 200, 150, 90, ...times(30, 90)])).toEqual([7])
})

test('is asked for again, after a pause, when the rest has gone too', async () => {
  expect(await askedAt([5, 400, 200, 200, ...times(20, 5)])).toEqual([3, 13])
})

test('is not asked for while visitors come and go as usual', async () => {
  expect(await askedAt([2, 4, 2, 30, 20, 40, 25, 4000, 3000, 4000, 2500])).toEqual([])
})

test('of the next HAProxy is its own', async () => {
  expect(await askedAt([400, 5, 5], (second) => (second === 0 ? 1 : 2))).toEqual([])
})
