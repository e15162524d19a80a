import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * Both ends of a long transfer over TCP. `serve PORT` sends or receives as many bytes as a client asks for. `get HOST
 * PORT BYTES` and `put HOST PORT BYTES` print in JSON how many milliseconds that took, and whether both ends saw the
 * same bytes.
 */
const BLOCK = 1 << 20
/** A client's request, padded. */
const ASKED = 20

const [mode, ...rest] = process.argv.slice(2)
if (mode === 'serve') createServer({ allowHalfOpen: true }, serve).listen(Number(rest[0]))
else console.log(JSON.stringify(await ask(mode === 'put', rest[0] ?? '', Number(rest[1]), Number(rest[2]))))

async function serve(socket: Socket): Promise<void> {
  socket.on('error', () => socket.destroy())
  await once(socket, 'readable')
  const [what, bytes] = String(socket.read(ASKED)).trim().split(' ')
  if (what === 'get') socket.end(await send(socket, Number(bytes)))
  else socket.end((await receive(socket, Number(bytes))).hash)
}

async function ask(isPut: boolean, host: string, port: number, bytes: number) {
  const socket = connect({ host, port, allowHalfOpen: true })
  const start = performance.now()
  socket.write(`${isPut ? 'put' : 'get'} ${bytes}`.padEnd(ASKED))
  const own = isPut ? await send(socket, bytes) : undefined
  socket.end()
  const { hash, after } = await receive(socket, isPut ? 0 : bytes)
  return { ms: performance.now() - start, isSame: after === (own ?? hash) }
}

/** @returns the hash of what was sent */
async function send(socket: Socket, bytes: number): Promise<string> {
  const hash = createHash('sha256')
  const block = randomBytes(BLOCK)
  for (let sent = 0; sent < bytes; sent += BLOCK) {
    const part = Buffer.from(block.subarray(0, Math.min(BLOCK, bytes - sent)))
    part.writeUInt32LE(sent / BLOCK)
    hash.update(part)
    if (!socket.write(part)) await once(socket, 'drain')
  }
  return hash.digest('hex')
}

/**
 * Reads until the other end has finished.
 * @returns the hash of this many bytes, and the text after them
 */
function receive(socket: Socket, bytes: number): Promise<{ hash: string; after: string }> {
  const hash = createHash('sha256')
  let left = bytes
  let after = ''
  return new Promise((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      const own = chunk.subarray(0, left)
      left -= own.length
      hash.update(own)
      after += chunk.subarray(own.length)
    })
    socket.once('end', () => resolve({ hash: hash.digest('hex'), after }))
    socket.once('close', () => reject(new Error('the connection was cut')))
  })
}
