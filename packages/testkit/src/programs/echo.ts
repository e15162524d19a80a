import { createServer, type ServerResponse } from 'node:http'
import { WebSocketServer } from 'ws'

/**
 * A web program whose answers show what reached it: JSON with method, url, headers and the body's length. WebSocket
 * messages are echoed. `/slow?ms=` answers late, `/close` ends without an answer, `/drip?ms=` sends a numbered line
 * ten times a second for so long, and `end`. Usage: node echo.ts PORT [ADDRESS]
 */
const port = Number(process.argv[2])

const server = createServer((request, response) => {
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
  })
  request.on('end', () => {
    const url = new URL(request.url ?? '/', 'http://echo')
    if (url.pathname.endsWith('/close')) return request.socket.destroy()
    if (url.pathname.endsWith('/drip')) return drip(response, Number(url.searchParams.get('ms')))
    const { method, headers } = request
    const body = JSON.stringify({ port, method, url: request.url, headers, length })
    setTimeout(
      () => response.setHeader('content-type', 'application/json').end(body),
      Math.min(Number(url.searchParams.get('ms') ?? 0), 10_000),
    )
  })
})

function drip(response: ServerResponse, ms: number): void {
  let left = Math.min(ms, 120_000) / 100
  const timer = setInterval(() => {
    if (left-- > 0) return void response.write(`${left}\n`)
    clearInterval(timer)
    response.end('end\n')
  }, 100)
  response.on('close', () => clearInterval(timer))
}

new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
})
server.listen(port, process.argv[3] ?? '::')
