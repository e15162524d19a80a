import { generateKeyPairSync } from 'node:crypto'

export interface KeyPair {
  privateKey: string
  publicKey: string
}

/** A WireGuard key pair, both halves in base64. */
export function createKeyPair(): KeyPair {
  const { privateKey } = generateKeyPairSync('x25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  return { privateKey: toBase64(d), publicKey: toBase64(x) }
}

function toBase64(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString('base64')
}
