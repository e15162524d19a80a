import { createHmac, timingSafeEqual } from 'node:crypto'

/** One-time passwords by time, as authenticator apps make them: RFC 6238 with SHA-1, six digits and half minutes. */

export const STEP_MS = 30_000
const DIGITS = 6
/** A clock may be a step ahead or behind. */
const DRIFTS = [0, -1, 1] as const

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648 in lower case and without padding; whole characters only for multiples of five bytes. */
export function toBase32(bytes: Buffer): string {
  let [text, value, bits] = ['', 0, 0]
  for (const byte of bytes) {
    value = (value << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(value >>> (bits - 5)) & 31]
    value &= 0xff
  }
  return text
}

/** The code of a secret at a time step (RFC 4226). */
export function codeAt(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', secret).update(counter).digest()
  const offset = (hash.at(-1) ?? 0) & 15
  const number = hash.readUInt32BE(offset) & 0x7fff_ffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** @returns the time step of a code that is right at this moment, in ms since the epoch; every step is compared */
export function findStep(secret: Buffer, code: string, now: number): number | undefined {
  const current = Math.floor(now / STEP_MS)
  const given = Buffer.from(code)
  const right = DRIFTS.map((drift) => current + drift).filter((step) => {
    const wanted = Buffer.from(codeAt(secret, step))
    return wanted.length === given.length && timingSafeEqual(wanted, given)
  })
  return right[0]
}

/** What a QR code for an authenticator app holds. `secret` in base32. */
export function authenticatorUri(secret: string, username: string, host: string): string {
  const label = `${encodeURIComponent('Postern')}:${encodeURIComponent(`${username}@${host}`)}`
  return `otpauth://totp/${label}?secret=${secret.toUpperCase()}&issuer=Postern`
}
