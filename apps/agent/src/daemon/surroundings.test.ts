import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { findFreePort } from '@postern/testkit/port'
import { until } from '@postern/testkit/until'
import { expect, onTestFinished, test } from 'vitest'
import { watchSurroundings } from './surroundings.ts'

test('another socket of a known program is no news, another program is', async () => {
  const bind = async (port: number) => {
    const socket = createSocket({ type: 'udp4', reuseAddr: true }).bind(port, '127.0.0.1')
    onTestFinished(() => void socket.close())
    await once(socket, 'listening')
  }
  const port = await findFreePort()
  await bind(port)
  let looks = 0
  let changes = 0
  const ending = new AbortController()
  const ports = () => {
    looks++
    return { tcp: [port], udp: [port] }
  }
  const onListening = () => {
    changes++
  }
  const options = { tunnel: 'none', onMoved: () => undefined, ports, onListening }
  const watch = watchSurroundings(options, ending.signal)
  onTestFinished(() => {
    ending.abort()
    return watch
  })
  await until('the first look', () => looks > 1)
  await bind(port)
  const before = looks
  await until('two looks', () => looks > before + 1)
  expect(changes).toBe(0)
  const server = createServer().listen(port, '127.0.0.1')
  onTestFinished(() => void server.close())
  await until('the change', () => changes === 1)
})
