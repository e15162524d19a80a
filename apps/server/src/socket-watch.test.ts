import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { fastify } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchSocket } from './socket-watch.ts'

let dir: string
beforeEach(() => {
  dir = tempDir()
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => vi.useRealTimers())

test('a socket that is removed again before it has its mode is lost, without a crash', async () => {
  const app = fastify()
  const path = join(dir, 'server.sock')
  const lost = Promise.withResolvers<string>()
  const watch = watchSocket({ app, path, log: { warn: () => undefined }, onLost: lost.resolve })
  vi.advanceTimersByTime(1000)
  rmSync(path)
  expect(await lost.promise).toMatch(/^cannot listen on .*server\.sock again: ENOENT/)
  watch.close()
  await app.close()
})
