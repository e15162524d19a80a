import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { askSocket, holdSocket, isAnswered } from './socket.ts'

const dir = tempDir()

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

test('a question gets its whole answer, or the reason why not', async () => {
  const path = join(dir, 'asked.sock')
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    socket.on('data', (question) => {
      if (String(question) !== 'mute') socket.end(question)
    })
  })
  await once(server.listen(path), 'listening')
  const limits = { timeoutMs: 5000, mostBytes: 1000 }
  const long = 'x'.repeat(1001)
  expect(await askSocket(path, 'question', limits)).toBe('question')
  await expect(askSocket(path, long, limits)).rejects.toThrow('the answer is too long')
  await expect(askSocket(path, 'mute', { ...limits, timeoutMs: 50 })).rejects.toThrow('no answer in time')
  for (const socket of open) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
  await expect(askSocket(path, 'question', limits)).rejects.toThrow('ENOENT')
})
