import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { askBackend } from './dial.ts'

let server: Server | undefined
afterEach(() => server?.close())

async function ask(answer: string) {
  const listening = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.write(answer))
  })
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  // A TCP listener has this kind of address.
  const { port } = listening.address() as AddressInfo
  const host = { host: 'web.example.com', path: '/', prefix: '', visitor: '198.51.100.1', publicPort: 443 }
  return await askBackend({ address: '127.0.0.1', port, isHttps: false, ...host }, 1000)
}

test.each([
  ['an upgrade', 'HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'answered', 101],
  ['no status', 'HTTP/1.1 000 X\r\n\r\n', 'broken', null],
  ['a status of two digits', 'HTTP/1.1 103 E\r\n\r\nHTTP/1.1 099 X\r\n\r\n', 'broken', null],
  ['an answer', 'HTTP/1.1 204 No Content\r\n\r\n', 'answered', 204],
])('a program that answers with %s ends the question', async (_, answer, result, status) => {
  expect(await ask(answer)).toEqual({ result, status })
})
