import { createHmac, timingSafeEqual } from 'node:crypto'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import type { KeysOfPurpose } from '../secrets/short-keys.ts'

/** How long a ticket opens streams. */
export const TICKET_MS = 60_000

/** 6 bytes each: the session's id, and the end in ms since the epoch; then the seal over both. */
const NUMBER_BYTES = 6
const HEAD_BYTES = 2 * NUMBER_BYTES

/** Tickets replace the session's token in the addresses of streams, and open nothing else. */
export interface Tickets {
  issue(sessionId: number): string
  /** The session of a ticket that was made here and is not too old; the session may have ended. */
  findSessionId(ticket: string): number | undefined
}

/** They are sealed and not stored, so that nobody can fill the memory with them. */
export function createTickets(keys: KeysOfPurpose, clock: () => number): Tickets {
  const seal = (head: Buffer, key: Buffer) => createHmac('sha256', key).update(head).digest()
  return {
    issue(sessionId) {
      const head = Buffer.alloc(HEAD_BYTES)
      head.writeUIntBE(sessionId, 0, NUMBER_BYTES)
      head.writeUIntBE(clock() + TICKET_MS, NUMBER_BYTES, NUMBER_BYTES)
      return TOKEN_PREFIXES.ticket + Buffer.concat([head, seal(head, keys()[0])]).toString('base64url')
    },
    findSessionId(ticket) {
      if (!ticket.startsWith(TOKEN_PREFIXES.ticket)) return undefined
      const bytes = Buffer.from(ticket.slice(TOKEN_PREFIXES.ticket.length), 'base64url')
      const [head, given] = [bytes.subarray(0, HEAD_BYTES), bytes.subarray(HEAD_BYTES)]
      const isSealed = keys().some((key) => {
        const wanted = seal(head, key)
        return given.length === wanted.length && timingSafeEqual(given, wanted)
      })
      if (!isSealed) return undefined
      return head.readUIntBE(NUMBER_BYTES, NUMBER_BYTES) > clock()
        ? head.readUIntBE(0, NUMBER_BYTES)
        : undefined
    },
  }
}
