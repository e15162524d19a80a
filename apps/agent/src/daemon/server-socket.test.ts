import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { until } from '@postern/testkit/until'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { openServerSocket, type ServerSocket } from './server-socket.ts'

let server: WebSocketServer
let agent: ServerSocket
let hints: number
let sockets: WebSocket[]

beforeEach(async () => {
  hints = 0
  sockets = []
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (socket) => sockets.push(socket))
  await once(server, 'listening')
  // A TCP listener has this kind of address.
  const { port } = server.address() as AddressInfo
  const url = new URL(`http://127.0.0.1:${port}`)
  const access = { url, token: 'ptn_x', trust: createSecureContext() }
  agent = openServerSocket(access, { onHint: () => void hints++, random: () => 0.5 })
  await until('the connection', () => hints === 1 && sockets[0])
})
afterEach(() => {
  agent.close()
  server.close()
})

const flood = (text: string, count: number) => {
  for (let i = 0; i < count; i++) sockets[0]?.send(text)
}

test('of a storm of hints the first and the last count, and a few between', async () => {
  flood('{"type":"changed"}', 500)
  await until('a later round', () => hints >= 2)
  sockets[0]?.send('{"type":"changed"}')
  await until('the round of the last hint', () => hints >= 3)
  expect(hints).toBeLessThan(20)
})

test.each([
  ['hints', () => flood('{"type":"changed"}', 20_000)],
  ['nonsense', () => flood('x'.repeat(10_000), 20_000)],
  ['pings', () => Array.from({ length: 20_000 }, () => sockets[0]?.ping())],
  ['pongs', () => Array.from({ length: 20_000 }, () => sockets[0]?.pong())],
])(
  'it disconnects from a server that floods it with %s, and does not reconnect at once',
  async (_, attack) => {
    attack()
    await until('the end of the connection', () => sockets[0]?.readyState === 3)
    expect(hints).toBeLessThanOrEqual(3)
    // It reconnects after half a minute at the earliest; after a lost connection, in a second.
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(sockets).toHaveLength(1)
  },
)

test('a server that refuses the token is asked for the reason', async () => {
  const [first] = sockets
  server.options.verifyClient = (_: unknown, answer: (isGood: boolean, status: number) => void) =>
    answer(false, 403)
  first?.close()
  await until('a hint', () => hints === 2)
})
