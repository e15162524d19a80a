import { createHmac } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const STEP_MS = 30_000

/** What an authenticator app shows at a moment, in ms since the epoch. @param secret in base32, as a person types it */
export function oneTimeCode(secret: string, at = Date.now()): string {
  const bits = [...secret].map((char) => ALPHABET.indexOf(char).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Math.floor(at / STEP_MS)
    .toString(16)
    .padStart(16, '0')
  const hash = createHmac('sha1', key).update(Buffer.from(counter, 'hex')).digest()
  const offset = hash.readUInt8(19) % 16
  const number = hash.readUInt32BE(offset) % 2 ** 31
  return String(number % 1_000_000).padStart(6, '0')
}
