import { createSocket } from 'node:dgram'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'

/**
 * A program whose bytes a test can count: over HTTP an answer of `?bytes=` with the same head each time, over TCP and
 * UDP an echo. Usage: node counted.ts HTTP_PORT ECHO_PORT
 */
const [httpPort, echoPort] = process.argv.slice(2).map(Number)

createHttpServer((request, response) => {
  const bytes = Number(new URL(request.url ?? '/', 'http://x').searchParams.get('bytes'))
  response.sendDate = false
  request.resume().on('end', () => response.end(Buffer.alloc(Math.min(bytes, 10_000_000), 'x')))
}).listen(httpPort)

createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => socket.destroy())
  socket.pipe(socket)
}).listen(echoPort, undefined, 4096)

const udp = createSocket('udp6')
udp.on('message', (message, { port, address }) => udp.send(message, port, address)).bind(echoPort)
