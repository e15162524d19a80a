/** A WireGuard key as text: 32 bytes in base64. The last character carries four bits, so only some may stand there. */
export function isWireGuardKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(text)
}

const FIELD = 2n ** 255n - 19n

/** The points of Curve25519 whose order divides 8 (https://cr.yp.to/ecdh.html#validate), below the field's prime. */
const LOW_ORDER = new Set([
  0n,
  1n,
  FIELD - 1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
])

/**
 * A key that is a usable public one. With a point of low order the shared secret is zero whatever the other private
 * key is, so that anybody could know it. The highest bit is ignored by some programs and read by others, and numbers
 * above the prime stand for those below.
 */
export function isPublicKey(text: string): boolean {
  if (!isWireGuardKey(text)) return false
  const bytes = [...atob(text)].reverse().map((byte) => byte.charCodeAt(0).toString(16).padStart(2, '0'))
  const number = BigInt(`0x${bytes.join('')}`)
  return ![number, number % 2n ** 255n].some((point) => LOW_ORDER.has(point % FIELD))
}
