import { createPrivateKey, createPublicKey } from 'node:crypto'

/** Both halves as WireGuard writes them: 32 bytes in base64. */
export interface WireGuardKeys {
  privateKey: string
  publicKey: string
}

/** The DER of an X25519 private key in front of its 32 bytes (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex')

/** `random` are 32 random bytes. */
export function createWireGuardKeys(random: Buffer): WireGuardKeys {
  const secret = Buffer.from(random)
  // As `wg genkey` does (RFC 7748), so that the key reads back from the kernel as it was given.
  secret[0] = (secret[0] ?? 0) & 248
  secret[31] = ((secret[31] ?? 0) & 127) | 64
  const privateKey = secret.toString('base64')
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}

export function publicKeyOf(privateKey: string): string {
  const der = Buffer.concat([PKCS8_HEAD, Buffer.from(privateKey, 'base64')])
  const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
  return key.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
}
