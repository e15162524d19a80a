import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'

/** A new key of the curve P-256, as PEM. */
export function createKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

const [INTEGER, BIT_STRING, OBJECT, SEQUENCE, NO_ATTRIBUTES] = [0x02, 0x03, 0x06, 0x30, 0xa0]
/** ecdsa-with-SHA256 (RFC 5758, 3.2) */
const ECDSA_SHA256 = Buffer.from('2a8648ce3d040302', 'hex')

/**
 * Asks for a certificate of this key: PKCS #10 (RFC 2986) as PEM. It names nobody, since the authority alone knows what
 * the edge is called.
 */
export function createCsr(key: string): string {
  const privateKey = createPrivateKey(key)
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  const info = tlv(SEQUENCE, tlv(INTEGER, Buffer.of(0)), tlv(SEQUENCE), publicKey, tlv(NO_ATTRIBUTES))
  const algorithm = tlv(SEQUENCE, tlv(OBJECT, ECDSA_SHA256))
  const seal = tlv(BIT_STRING, Buffer.of(0), sign('sha256', info, privateKey))
  const lines =
    tlv(SEQUENCE, info, algorithm, seal)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join('\n')
}

/** One value in DER. All of a request is shorter than 65,536 bytes. */
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
