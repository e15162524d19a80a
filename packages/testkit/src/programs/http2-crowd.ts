import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { encode, type Field, FLAG, frame, PREFACE, statusOf, TYPE, takeFrame } from '../http2-wire.ts'

/**
 * A visitor that holds as many requests as it can: opens connections of HTTP/2 from its addresses in turn, sends the
 * same request on each stream, and reads no more of an answer than its window. With `repeats` it repeats the request
 * after each answer, and reconnects when it is closed. Prints `asked` when all are sent, and once a second how many
 * requests got which status and how many connections were closed. Ends after a minute and a half. Usage: node
 * http2-crowd.ts JSON
 */
export interface Http2Crowd {
  server: string
  /** Addresses of this host. */
  from: readonly string[]
  connections: number
  streams: number
  host: string
  path: string
  method?: 'GET' | 'POST'
  /** The first bytes of a body of this length, or all of them; none: no body. */
  body?: { length: number; first: string; type?: string }
  /** The window of each stream, in bytes. */
  window?: number
  repeats?: boolean
}

// The test that starts it writes this type.
const crowd = JSON.parse(process.argv[2] ?? '') as Http2Crowd
const WINDOW_UPDATE = 8
const RECONNECT_MS = 10
const counts: Record<string, number> = {}
const count = (key: string) => {
  counts[key] = (counts[key] ?? 0) + 1
}

function settings(window: number): string {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt16BE(4, 0)
  bytes.writeUInt32BE(window, 2)
  return bytes.toString('latin1')
}

/** More of the connection's window than one answer of the edge takes: only answers that are read are asked for again. */
function room(): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(16_384)
  return frame(WINDOW_UPDATE, 0, 0, bytes.toString('latin1'))
}

function head(): Field[] {
  const { method = 'GET', path, host, body } = crowd
  const fields: Field[] = [
    [':method', method],
    [':scheme', 'https'],
    [':authority', host],
    [':path', path],
  ]
  if (body) fields.push(['content-length', String(body.length)])
  if (body?.type) fields.push(['content-type', body.type])
  return fields
}

function ask(stream: number): Buffer[] {
  const isWhole = crowd.body === undefined
  const flags = FLAG.endHeaders | (isWhole ? FLAG.endStream : 0)
  const frames = [frame(TYPE.headers, flags, stream, encode(head()))]
  if (crowd.body) {
    const { first, length } = crowd.body
    frames.push(frame(TYPE.data, first.length === length ? FLAG.endStream : 0, stream, first))
  }
  return frames
}

function open(from: string): Promise<void> {
  return new Promise((resolve) => {
    let rest: Buffer = Buffer.alloc(0)
    // An address is no name of TLS.
    const servername = isIP(crowd.host) ? '' : crowd.host
    const target = { port: 443, host: crowd.server, localAddress: from, servername }
    const socket = connect({ ...target, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    socket.on('error', () => resolve())
    socket.on('close', () => {
      count('closed')
      resolve()
      if (crowd.repeats) setTimeout(() => void open(from), RECONNECT_MS)
    })
    let stream = 2 * crowd.streams - 1
    socket.on('secureConnect', () => {
      const streams = Array.from({ length: crowd.streams }, (_, index) => ask(1 + 2 * index)).flat()
      const first = frame(TYPE.settings, 0, 0, settings(crowd.window ?? 65_535))
      socket.write(Buffer.concat([Buffer.from(PREFACE), first, ...streams]), () => resolve())
    })
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (let next = takeFrame(rest); next; next = takeFrame(rest)) {
        rest = next.rest
        if (next.type === TYPE.headers) count(String(statusOf(next.payload)))
        if (next.type === TYPE.reset) count('reset')
        const isEnd = next.type === TYPE.reset || (isAnswer(next.type) && (next.flags & FLAG.endStream) !== 0)
        if (!crowd.repeats || !isEnd || socket.destroyed) continue
        stream += 2
        socket.write(Buffer.concat([room(), ...ask(stream)]))
      }
    })
  })
}

const isAnswer = (type: number) => type === TYPE.headers || type === TYPE.data

const opening = Array.from({ length: crowd.connections }, (_, index) =>
  open(crowd.from[index % crowd.from.length] ?? ''),
)
await Promise.all(opening)
console.log('asked')
setInterval(() => console.log(JSON.stringify(counts)), 1000)
setTimeout(() => process.exit(0), 90_000)
