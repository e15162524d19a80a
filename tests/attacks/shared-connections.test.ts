import { createServer, type Socket } from 'node:net'
import { findFreePort } from '@postern/testkit/port'
import { shared } from '@postern/testkit/shared'
import { sendRaw, statusesIn } from '@postern/testkit/wire'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeHaproxyLab, makeLabRoute } from '../../apps/edge/test/haproxy-lab.ts'

/**
 * Visitors share connections to a service. One who makes the service send more than the answer would put the rest in
 * front of the next visitor, so requests that some programs answer in such a way have a connection of their own.
 */
const HOST = 's2.example.com'
const connections: string[][] = []
const sockets = new Set<Socket>()

const lab = shared(makeHaproxyLab)
const server = createServer((socket) => {
  const seen: string[] = []
  connections.push(seen)
  sockets.add(socket)
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => {
    for (const [, line = ''] of String(bytes).matchAll(/^([A-Z]+ \S+) HTTP/gm)) {
      seen.push(line)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }
  })
})
beforeAll(async () => {
  const port = await findFreePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  expect(await lab.apply([makeLabRoute(2, port, { domain: HOST })])).toEqual([])
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

const ask = async (line: string) =>
  statusesIn(await sendRaw(lab.httpsPort, `${line}\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`))

test('HEAD, which some services answer with a body, goes over no connection that others use', async () => {
  for (const line of ['GET /a', 'HEAD /b', 'GET /c', 'OPTIONS /d'])
    expect(await ask(`${line} HTTP/1.1`)).toEqual([200])
  expect(connections).toEqual([['GET /a', 'GET /c', 'OPTIONS /d'], ['HEAD /b']])
})

test('HTTP/0.9, which some services answer with the bare body, reaches none', async () => {
  const before = connections.flat()
  for (const line of ['GET /e HTTP/0.9', 'GET /e HTTP/0.0', 'HEAD /e HTTP/0.9'])
    expect(await ask(line)).toEqual([400])
  expect(connections.flat()).toEqual(before)
})
