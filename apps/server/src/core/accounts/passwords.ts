import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

const BLOCK = 8
const KEY_BYTES = 32

/** What one check costs: 128 MB and some tenths of a second. */
export const PASSWORD_COST = 2 ** 17

/** @returns `scrypt$<N>$<salt>$<hash>`, the parts in base64url; `cost` is N, a power of two. */
export async function hashPassword(password: string, cost: number): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt, cost)
  return `scrypt$${cost}$${salt.toString('base64url')}$${hash.toString('base64url')}`
}

/** False also for a stored value that cannot be read. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [kind, cost = '', salt = '', expected = ''] = stored.split('$')
  const wanted = Buffer.from(expected, 'base64url')
  if (kind !== 'scrypt' || !/^\d+$/.test(cost) || wanted.length !== KEY_BYTES) return false
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'base64url'), Number(cost)), wanted)
}

function derive(password: string, salt: Buffer, cost: number): Promise<Buffer> {
  // The same password may be typed in two Unicode forms.
  const text = password.normalize('NFKC')
  const options = { N: cost, r: BLOCK, p: 1, maxmem: 256 * cost * BLOCK }
  return new Promise((resolve, reject) => {
    scrypt(text, salt, KEY_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
