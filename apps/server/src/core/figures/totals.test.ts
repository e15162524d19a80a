import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { takeTotals } from './totals.ts'

const lab = () => {
  const file = join(tempDir(), 'counters.json')
  let now = 1000
  return { file, take: () => takeTotals({ file, log: pino({ level: 'silent' }), clock: () => now++ }) }
}

test('counters go on after an orderly end, and begin at zero after a crash', async () => {
  const { file, take } = lab()
  const first = await take()
  first.add([
    [1, [1, 20, 300]],
    [2, [5, 5, 5]],
    [1, [1, 1, 1]],
  ])
  first.remove([2])
  expect([first.since, first.of(1), first.of(2)]).toEqual([1000, [2, 21, 301], [0, 0, 0]])
  await first.close()

  const second = await take()
  expect([second.since, second.of(1)]).toEqual([1000, [2, 21, 301]])
  second.add([[1, [1, 1, 1]]])
  // It dies here: what was on disk is older than what it told.
  expect(existsSync(file)).toBe(false)

  const third = await take()
  expect([third.since, third.of(1)]).toEqual([1001, [0, 0, 0]])
})

test('a file that cannot be read is nothing', async () => {
  const { file, take } = lab()
  for (const text of ['', '{"since":1,"totals":[[1,-5,0,0]]}', 'null']) {
    writeFileSync(file, text)
    expect((await take()).of(1)).toEqual([0, 0, 0])
    expect(existsSync(file)).toBe(false)
  }
})
