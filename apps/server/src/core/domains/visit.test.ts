import { once } from 'node:events'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { findFreePort } from '@postern/testkit/port'
import { afterEach, expect, it } from 'vitest'
import { createVisit } from './visit.ts'

const servers: Server[] = []
const sockets = new Set<Socket>()
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  for (const socket of sockets) socket.destroy()
})

async function listen(server: Server): Promise<number> {
  servers.push(server)
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A TCP server has an address with a port.
  return (server.address() as AddressInfo).port
}

const serve = (answer: RequestListener) => listen(createHttp(answer))
const speak = (bytes: string) => listen(createServer((socket) => void socket.end(bytes)))
const visit = (port: number, timeout = 500) =>
  createVisit({ port, timeout })('127.0.0.1', 'app.example.com', '/.well-known/postern/x')

it('asks the address for the name, and looks nothing up', async () => {
  const port = await serve((request, response) => response.end(`${request.headers.host}${request.url}`))
  expect(await visit(port, 20_000)).toEqual({
    kind: 'answered',
    status: 200,
    text: 'app.example.com/.well-known/postern/x',
  })
})

it('follows no redirect', async () => {
  const asked: unknown[] = []
  const port = await serve((request, response) => {
    asked.push(request.url)
    response.writeHead(302, { location: `http://127.0.0.1:${port}/secret` }).end('moved')
  })
  expect(await visit(port, 20_000)).toEqual({ kind: 'answered', status: 302, text: 'moved' })
  expect(asked).toEqual(['/.well-known/postern/x'])
})

it('reads the start of an answer that does not end, and hangs up', async () => {
  const port = await serve((_request, response) => {
    const timer = setInterval(() => response.write('x'.repeat(1000)), 1)
    response.on('close', () => clearInterval(timer))
  })
  const came = await visit(port, 20_000)
  expect(came).toMatchObject({ kind: 'answered', text: 'x'.repeat(512) })
  await expect.poll(() => [...sockets].every((socket) => socket.destroyed), { timeout: 20_000 }).toBe(true)
})

it('tells each way to fail', async () => {
  expect(await visit(await findFreePort())).toEqual({ kind: 'refused' })
  expect(await visit(await listen(createServer()))).toEqual({ kind: 'silent' })
  const slow = await serve((_request, response) => void response.writeHead(200).write('a little'))
  expect(await visit(slow)).toEqual({ kind: 'silent' })
  expect(await visit(await speak('SSH-2.0-OpenSSH\r\n'), 20_000)).toEqual({ kind: 'broken' })
  expect(await visit(await speak(''), 20_000)).toEqual({ kind: 'broken' })
  expect(await visit(await speak(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`), 20_000)).toEqual({
    kind: 'broken',
  })
})
