/** The part of DNS (RFC 1035) that a forwarder needs: the header, and where the first question ends. */

const HEADER = 12
const MAX_MESSAGE = 4096

export interface DnsQuery {
  id: number
  /** The question section: name, type and class. */
  question: Buffer
}

/** @returns the query, or undefined when the packet is not one plain question. */
export function findQuery(packet: Buffer): DnsQuery | undefined {
  if (packet.length > MAX_MESSAGE) return undefined
  const found = findQuestion(packet)
  const isPlainQuery = found && (packet.readUInt16BE(2) & 0xf800) === 0
  return isPlainQuery ? { id: packet.readUInt16BE(0), question: found } : undefined
}

/** True when the packet answers the question with this id. */
export function isAnswerTo(packet: Buffer, id: number, question: Buffer): boolean {
  const found = findQuestion(packet)
  if (!found || packet.readUInt16BE(0) !== id || (packet.readUInt16BE(2) & 0x8000) === 0) return false
  return found.equals(question)
}

/** The same message with another id. */
export function withId(packet: Buffer, id: number): Buffer {
  const copy = Buffer.from(packet)
  copy.writeUInt16BE(id, 0)
  return copy
}

/** SERVFAIL, for when no name server answered. */
export function renderFailure(query: DnsQuery): Buffer {
  const header = Buffer.alloc(HEADER)
  header.writeUInt16BE(query.id, 0)
  header.writeUInt16BE(0x8182, 2)
  header.writeUInt16BE(1, 4)
  return Buffer.concat([header, query.question])
}

function findQuestion(packet: Buffer): Buffer | undefined {
  if (packet.length < HEADER || packet.readUInt16BE(4) !== 1) return undefined
  let at = HEADER
  for (let labels = 0; labels < 128 && at < packet.length; labels++) {
    const length = packet.readUInt8(at)
    if (length > 63) return undefined
    at += length + 1
    if (length === 0) return at + 4 <= packet.length ? packet.subarray(HEADER, at + 4) : undefined
  }
  return undefined
}
