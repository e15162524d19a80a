import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { findFreePort } from '@postern/testkit/port'
import { fastify } from 'fastify'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MOST_AT_PORT, openLoopback } from './listen.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => vi.useRealTimers())

test('a port that stays taken is reported once, and so is its opening', async () => {
  const app = fastify()
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const address = holder.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const changes: (string | null)[] = []
  const close = await openLoopback(app, { port, onChange: (problem) => void changes.push(problem) })
  const taken = expect.stringContaining(`port ${port} of 127.0.0.1 is taken`)
  expect(changes).toEqual([taken])
  for (let tries = 0; tries < 3; tries++) {
    vi.advanceTimersByTime(5000)
    await turn(() => vi.getTimerCount() > 0)
  }
  expect(changes).toEqual([taken])
  holder.close()
  await once(holder, 'close')
  vi.advanceTimersByTime(5000)
  await turn(() => changes.length > 1)
  expect(changes).toEqual([taken, null])
  await close()
  await app.close()
})

test('local users cannot use up the server’s open files by the port', async () => {
  const app = fastify({ forceCloseConnections: true })
  await app.ready()
  const port = await findFreePort()
  const close = await openLoopback(app, { port, onChange: () => undefined })
  let closed = 0
  const sockets = Array.from({ length: MOST_AT_PORT + 40 }, (_, index) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${1 + (index % 200)}` })
    return socket.on('close', () => closed++).resume()
  })
  await turn(() => closed >= 40)
  // One that leaves makes room.
  for (const socket of sockets) socket.destroy()
  await turn(() => closed === sockets.length)
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
  expect([closed, answer.status]).toEqual([MOST_AT_PORT + 40, 404])
  await Promise.all([close(), app.close()])
})

/** The clock stands still, but the network does not. */
async function turn(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setImmediate(resolve))
}
