import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

type NameAnswer = string[] | 'none' | 'failure' | 'silent'

/** A name server with answers set by a test: an address list, 'none' (NXDOMAIN), 'failure' (SERVFAIL) or 'silent'. */
export interface NameServer {
  address: string
  answers: Map<string, NameAnswer>
  /** The names in its queries, in order. */
  asked: string[]
  close(): void
}

const TYPE_A = 1
const CODES = { failure: 2, none: 3 } as const

export async function startNameServer({ host = '127.0.0.1', port = 0 } = {}): Promise<NameServer> {
  const socket = createSocket('udp4')
  const answers: NameServer['answers'] = new Map()
  const asked: string[] = []
  socket.on('message', (query, from) => {
    const { name, type, end } = parseQuestion(query)
    asked.push(name)
    const answer = answers.get(name) ?? 'none'
    if (answer === 'silent') return
    const addresses = typeof answer === 'string' || type !== TYPE_A ? [] : answer
    const code = typeof answer === 'string' ? CODES[answer] : 0
    socket.send(makeReply(query.subarray(0, end), addresses, code), from.port, from.address)
  })
  socket.bind(port, host)
  await once(socket, 'listening')
  // A bound UDP socket has an address with a port.
  const bound = socket.address() as AddressInfo
  return { address: `${host}:${bound.port}`, answers, asked, close: () => socket.close() }
}

function parseQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** The question again, and the addresses as A records that point back to its name. */
function makeReply(question: Buffer, addresses: readonly string[], code: number): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt16BE(0, 8)
  head.writeUInt16BE(0, 10)
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
  )
  return Buffer.concat([head, ...records])
}
