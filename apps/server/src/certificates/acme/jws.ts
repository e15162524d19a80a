import { createPublicKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, FlattenedSign } from 'jose'

/** A JWK of a P-256 key. */
export function jwkOf(key: KeyObject): { crv: string; kty: string; x: string; y: string } {
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { crv, kty, x, y }
}

/** RFC 7638 */
export function thumbprintOf(key: KeyObject): Promise<string> {
  return calculateJwkThumbprint(jwkOf(key))
}

/** RFC 8555, 6.2. A payload of undefined is an empty one: POST as GET. */
export async function signJws(key: KeyObject, header: object, payload: unknown): Promise<string> {
  const signing = new FlattenedSign(payload === undefined ? new Uint8Array() : encode(payload))
  return JSON.stringify(await signing.setProtectedHeader({ alg: 'ES256', ...header }).sign(key))
}

/** RFC 8555, 7.3.4. @param secret as the authority gave it: base64url */
export async function bindAccount(
  key: KeyObject,
  url: string,
  { kid, secret }: { kid: string; secret: string },
): Promise<object> {
  const signing = new FlattenedSign(encode(jwkOf(key))).setProtectedHeader({ alg: 'HS256', kid, url })
  return await signing.sign(Buffer.from(secret, 'base64url'))
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}
