import { connect } from 'node:tls'
import { SILENCE } from './wire.ts'

export type Field = readonly [name: string, value: string]

/** The status of the answer, or how the request ended without one. */
export type Http2Outcome = number | 'reset' | 'closed' | 'silent'

export const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7 } as const
export const FLAG = { ack: 1, endStream: 1, endHeaders: 4 } as const
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/**
 * One HTTP/2 request in hand-made frames, which no library can refuse to send.
 * @param fields in latin1, in this order, names as they are
 * @param body latin1; undefined ends the stream with its head
 */
export function askHttp2(
  port: number,
  fields: readonly Field[],
  {
    body,
    trailers,
    silence = SILENCE,
  }: { body?: string; trailers?: readonly Field[]; silence?: number } = {},
): Promise<Http2Outcome> {
  return new Promise((resolve, reject) => {
    let rest: Buffer = Buffer.alloc(0)
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    const end = (outcome: Http2Outcome) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.setTimeout(silence, () => end('silent'))
    socket.on('error', reject).on('close', () => end('closed'))
    socket.on('secureConnect', () => {
      const frames = [
        Buffer.from(PREFACE),
        frame(TYPE.settings, 0, 0, ''),
        ...request(fields, body, trailers),
      ]
      socket.write(Buffer.concat(frames))
    })
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (let next = takeFrame(rest); next; next = takeFrame(rest)) {
        rest = next.rest
        if (next.type === TYPE.settings && !(next.flags & FLAG.ack))
          socket.write(frame(TYPE.settings, FLAG.ack, 0, ''))
        if (next.type === TYPE.headers) end(statusOf(next.payload))
        if (next.type === TYPE.reset) end('reset')
        if (next.type === TYPE.goaway) end('closed')
      }
    })
  })
}

function request(
  fields: readonly Field[],
  body: string | undefined,
  trailers: readonly Field[] | undefined,
): Buffer[] {
  const isLast = (more: unknown) => (more === undefined ? FLAG.endStream : 0)
  const head = frame(TYPE.headers, FLAG.endHeaders | isLast(body ?? trailers), 1, encode(fields))
  const data = body === undefined ? [] : [frame(TYPE.data, isLast(trailers), 1, body)]
  const tail = trailers ? [frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, 1, encode(trailers))] : []
  return [head, ...data, ...tail]
}

/** Each field literally, without Huffman and without the table. */
export function encode(fields: readonly Field[]): string {
  return fields.map(([name, value]) => `\0${text(name)}${text(value)}`).join('')
}

/** A length of seven bits, and what is beyond in groups of seven. */
function text(value: string): string {
  if (value.length < 127) return String.fromCharCode(value.length) + value
  let more = value.length - 127
  let length = '\x7f'
  for (; more >= 128; more = Math.floor(more / 128)) length += String.fromCharCode(128 + (more % 128))
  return length + String.fromCharCode(more) + value
}

export function frame(type: number, flags: number, stream: number, payload: string): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, Buffer.from(payload, 'latin1')])
}

export function takeFrame(
  bytes: Buffer,
): { type: number; flags: number; payload: Buffer; rest: Buffer } | undefined {
  if (bytes.length < 9) return undefined
  const end = 9 + bytes.readUIntBE(0, 3)
  if (bytes.length < end) return undefined
  const [type, flags] = [bytes.readUInt8(3), bytes.readUInt8(4)]
  return { type, flags, payload: bytes.subarray(9, end), rest: bytes.subarray(end) }
}

/** The statuses in HPACK's table, from index 8 on. */
const STATUSES = [200, 204, 206, 304, 400, 404, 500]

/** HAProxy writes the status first: as an index, or as three digits after the index of its name. */
export function statusOf(block: Buffer): number {
  // It may begin with a change of the table's size.
  const at = block.findIndex((byte) => (byte & 0xe0) !== 0x20)
  const first = block[at] ?? 0
  return first & 0x80 ? (STATUSES[(first & 0x7f) - 8] ?? 0) : Number(block.toString('latin1', at + 2, at + 5))
}
