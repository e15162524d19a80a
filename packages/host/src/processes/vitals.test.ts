import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findVitalsOf, readOwnVitals, watchEventLoop } from './vitals.ts'

test('a process says what it takes itself', async () => {
  const before = await readOwnVitals()
  const files = Array.from({ length: 200 }, () => openSync('/dev/null', 'r'))
  const busy = process.cpuUsage()
  while (process.cpuUsage(busy).user < 50_000);
  const after = await readOwnVitals()
  for (const file of files) closeSync(file)
  expect(after.cpuSeconds - before.cpuSeconds).toBeGreaterThan(0.04)
  expect((after.openFiles ?? 0) - (before.openFiles ?? 0)).toBeGreaterThanOrEqual(150)
  expect(after.mostOpenFiles).toBeGreaterThan(20)
  expect(after.residentBytes).toBeGreaterThan(20e6)
  expect(Date.now() - after.startedAt).toBeLessThan(600_000)
})

test('another process is looked at, and one that is gone is nothing', async () => {
  const child = spawn('sleep', ['60'])
  const find = () => findVitalsOf(child.pid ?? 0)
  // Until it has begun to run its program, it has no memory of its own.
  await expect.poll(async () => (await find())?.residentBytes).toBeGreaterThan(100_000)
  const found = await find()
  expect(found).toMatchObject({ openFiles: expect.any(Number) })
  expect(Math.abs(Date.now() - (found?.startedAt ?? 0))).toBeLessThan(60_000)
  child.kill('SIGKILL')
  await new Promise((resolve) => child.on('close', resolve))
  expect(await findVitalsOf(child.pid ?? 0)).toBeUndefined()
})

test('an event loop that was held up says by how much', async () => {
  const loop = watchEventLoop()
  await new Promise((resolve) => setTimeout(resolve, 50))
  const end = performance.now() + 200
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(loop.read().most).toBeGreaterThan(0.15)
  expect(loop.read().most).toBeLessThan(30)
  expect(loop.read().median).toBeLessThan(loop.read().most)
  loop.close()
})
