import { connect, createServer } from 'node:net'

/** Listens and never accepts, so that its queue is full and every further connection times out. */
const server = createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  for (let i = 0; i < 4; i++) connect(port, '127.0.0.1').on('error', () => undefined)
  process.stdout.write(`${port}\n`, () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
})
