import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { holdSocket, isAnswered } from './socket.ts'

const dir = mkdtempSync(join(tmpdir(), 'socket-'))
afterAll(() => rmSync(dir, { recursive: true }))

test('one holds a path, the second does not, and after the first it is free again', async () => {
  const path = join(dir, 'held.sock')
  expect(await isAnswered(path)).toBe(false)
  const held = await holdSocket(path)
  expect(await isAnswered(path)).toBe(true)
  expect(await holdSocket(path)).toBeUndefined()
  await held?.release()
  const again = await holdSocket(path)
  expect(again).toBeDefined()
  await again?.release()
})

test('what somebody left behind who is gone is taken over', async () => {
  const path = join(dir, 'left.sock')
  writeFileSync(path, '')
  expect(await isAnswered(path)).toBe(false)
  const held = await holdSocket(path)
  expect(held).toBeDefined()
  await held?.release()
})
