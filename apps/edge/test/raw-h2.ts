import { connect, type TLSSocket } from 'node:tls'

/**
 * One request over HTTP/2 with its fields as they are, also such as `node:http2` refuses to send.
 * @returns the status of the answer, or the name of the frame that ended the stream or the connection instead.
 */
export function askRawH2(port: number, fields: readonly [string, string][]): Promise<number | string> {
  return new Promise((resolve, reject) => {
    const target = { port, host: '127.0.0.1', ALPNProtocols: ['h2'], rejectUnauthorized: false }
    const socket: TLSSocket = connect(target, () => socket.write(requestOf(fields)))
    let bytes = Buffer.alloc(0)
    const end = (result: number | string) => {
      socket.destroy()
      resolve(result)
    }
    socket.setTimeout(10_000, () => end('silence'))
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const result = readAnswer(bytes)
      if (result !== undefined) end(result)
    })
    socket.on('end', () => end('closed')).on('error', reject)
  })
}

const HEADERS = 1
const RST_STREAM = 3
const GOAWAY = 7
/** With the flags END_STREAM and END_HEADERS. */
const WHOLE = 5

function requestOf(fields: readonly [string, string][]): Buffer {
  const settings = frame(4, 0, 0, Buffer.alloc(0))
  const block = Buffer.concat(fields.map(([name, value]) => literal(name, value)))
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    settings,
    frame(HEADERS, WHOLE, 1, block),
  ])
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A field without index and without Huffman's code, as RFC 7541, 6.2.2 has it. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  const length = bytes.length < 127 ? [bytes.length] : [127, ...rest(bytes.length - 127)]
  return Buffer.concat([Buffer.from(length), bytes])
}

function rest(length: number): number[] {
  return length < 128 ? [length] : [(length % 128) + 128, ...rest(Math.floor(length / 128))]
}

function readAnswer(bytes: Buffer): number | string | undefined {
  for (let at = 0; at + 9 <= bytes.length; ) {
    const length = bytes.readUIntBE(at, 3)
    if (at + 9 + length > bytes.length) return undefined
    const type = bytes.readUInt8(at + 3)
    if (type === RST_STREAM) return 'RST_STREAM'
    if (type === GOAWAY) return 'GOAWAY'
    if (type === HEADERS) return readStatus(bytes.subarray(at + 9, at + 9 + length))
    at += 9 + length
  }
  return undefined
}

/** The status comes first: one of the static table's, or digits as they are. */
function readStatus(block: Buffer): number {
  const known = [200, 204, 206, 304, 400, 404, 500][(block[0] ?? 0) - 0x88]
  return known ?? Number(/\d{3}/.exec(block.toString('latin1'))?.[0])
}
