import { createHash, createHmac, createPublicKey, type KeyObject, sign } from 'node:crypto'

/** A JWK of a P-256 key with its members in the order of RFC 7638. */
export function jwkOf(key: KeyObject): { crv: string; kty: string; x: string; y: string } {
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { crv, kty, x, y }
}

/** RFC 7638 */
export function thumbprintOf(key: KeyObject): string {
  return createHash('sha256')
    .update(JSON.stringify(jwkOf(key)))
    .digest('base64url')
}

/** RFC 8555, 6.2. A payload of undefined is an empty one: POST as GET. */
export function signJws(key: KeyObject, header: object, payload: unknown): string {
  const [head, body] = [encode({ alg: 'ES256', ...header }), payload === undefined ? '' : encode(payload)]
  const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' })
  return JSON.stringify({ protected: head, payload: body, signature: signature.toString('base64url') })
}

/** RFC 8555, 7.3.4. @param secret as the authority gave it: base64url */
export function bindAccount(
  key: KeyObject,
  url: string,
  { kid, secret }: { kid: string; secret: string },
): object {
  const [head, body] = [encode({ alg: 'HS256', kid, url }), encode(jwkOf(key))]
  const mac = createHmac('sha256', Buffer.from(secret, 'base64url')).update(`${head}.${body}`)
  return { protected: head, payload: body, signature: mac.digest('base64url') }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
