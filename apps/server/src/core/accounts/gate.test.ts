import { expect, test } from 'vitest'
import { UnavailableError } from '../errors.ts'
import { createGate } from './gate.ts'

test('only a limited number is inside at a time, the queue is served in order, and a full one refuses', async () => {
  const gate = createGate(2, 3)
  const order: number[] = []
  let inside = 0
  let most = 0
  const work = (index: number) => async () => {
    most = Math.max(most, ++inside)
    await new Promise((resolve) => setImmediate(resolve))
    order.push(index)
    inside--
    if (index === 1) throw new Error('no')
  }
  const results = await Promise.allSettled([0, 1, 2, 3, 4, 5].map((index) => gate.pass(work(index))))
  expect(most).toBe(2)
  expect(order).toEqual([0, 1, 2, 3, 4])
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  expect(refused).toEqual([new Error('no'), expect.any(UnavailableError)])
  await expect(gate.pass(async () => 'free again')).resolves.toBe('free again')
})

test('a smaller rank goes first, and takes the place of the last one in a full queue', async () => {
  const gate = createGate(1, 2)
  const first = Promise.withResolvers<void>()
  const order: string[] = []
  const pass = (name: string, rank: number) => gate.pass(async () => void order.push(name), rank)
  const all = [gate.pass(() => first.promise), pass('a', 1), pass('b', 1), pass('c', 1), pass('known', -1)]
  first.resolve()
  const results = await Promise.allSettled(all)
  expect(order).toEqual(['known', 'a'])
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ])
})
