import { expect, test } from 'vitest'
import { UnavailableError } from './errors.ts'
import { createGate } from './gate.ts'

test('only so many are inside at a time, the line is served in order, and a full one is said', async () => {
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
