import { createHmac, timingSafeEqual } from 'node:crypto'
import type { KeysOfPurpose } from '../secrets/short-keys.ts'

/** Proves that a request which the server sends comes back to it: only this installation knows the answer. */
export interface Proof {
  /** Part of the requested path. */
  nonce: string
  /** The answer to it. */
  secret: string
}

export interface Proofs {
  begin(): Proof
  /** The answer of a proof that has begun, for ten seconds; a request is waited for half as long. */
  find(nonce: string): string | undefined
}

interface Parts {
  keys: KeysOfPurpose
  clock(): number
  randomBytes(count: number): Buffer
}

const SECONDS = 10
/** Random bytes, the time in s, and the beginning of a seal over both: together 32 hexadecimal digits. */
const [RANDOM_BYTES, TIME_BYTES, SEAL_BYTES] = [8, 4, 4] as const
const HEAD_BYTES = RANDOM_BYTES + TIME_BYTES

/**
 * The answer is computed from the question, so nothing is stored; and is not in it, so that a server that echoes
 * requests proves nothing.
 */
export function createProofs({ keys, clock, randomBytes }: Parts): Proofs {
  const now = () => Math.floor(clock() / 1000)
  return {
    begin() {
      const [key] = keys()
      const head = Buffer.concat([randomBytes(RANDOM_BYTES), Buffer.alloc(TIME_BYTES)])
      head.writeUInt32BE(now(), RANDOM_BYTES)
      const nonce = Buffer.concat([head, sealOf(key, head)])
      return { nonce: nonce.toString('hex'), secret: answerOf(key, nonce) }
    },
    find(text) {
      const nonce = Buffer.from(text, 'hex')
      const [head, seal] = [nonce.subarray(0, HEAD_BYTES), nonce.subarray(HEAD_BYTES)]
      if (seal.length !== SEAL_BYTES || nonce.toString('hex') !== text) return undefined
      if (Math.abs(now() - head.readUInt32BE(RANDOM_BYTES)) > SECONDS) return undefined
      const key = keys().find((each) => timingSafeEqual(sealOf(each, head), seal))
      return key && answerOf(key, nonce)
    },
  }
}

const macOf = (key: Buffer, label: string, bytes: Buffer) =>
  createHmac('sha256', key).update(`${label} `).update(bytes).digest()
const sealOf = (key: Buffer, head: Buffer) => macOf(key, 'seal', head).subarray(0, SEAL_BYTES)
const answerOf = (key: Buffer, nonce: Buffer) => macOf(key, 'answer', nonce).toString('hex')
