import { argon2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

const KEY_BYTES = 32

/** Memory in KiB, and how often it is passed over. */
export interface PasswordCost {
  memory: number
  passes: number
}

/** The cost of one check: 19 MB and some 60 ms of a processor, as OWASP advises for Argon2id. */
export const PASSWORD_COST: PasswordCost = { memory: 19_456, passes: 2 }

const STORED = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=1\$([\w+/]{22})\$([\w+/]{43})$/
/** As passwords were stored before Argon2id: `scrypt$N$salt$hash`, the last two in base64url. */
const STORED_BEFORE = /^scrypt\$(\d{1,7})\$([\w-]{22})\$([\w-]{43})$/

/** @returns `$argon2id$v=19$m=…,t=…,p=1$salt$hash`, as other programs write it too */
export async function hashPassword(password: string, { memory, passes }: PasswordCost): Promise<string> {
  const salt = randomBytes(16)
  const hash = await deriveArgon2(normalized(password), salt, { memory, passes })
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${unpadded(salt)}$${unpadded(hash)}`
}

/** False also for a stored value that cannot be read. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const text = normalized(password)
  const [, memory, passes, salt = '', hash = ''] = STORED.exec(stored) ?? []
  if (memory) {
    const cost = { memory: Number(memory), passes: Number(passes) }
    const found = await deriveArgon2(text, Buffer.from(salt, 'base64'), cost)
    return timingSafeEqual(found, Buffer.from(hash, 'base64'))
  }
  const [, cost, saltBefore = '', hashBefore = ''] = STORED_BEFORE.exec(stored) ?? []
  if (!cost) return false
  const found = await deriveScrypt(text, Buffer.from(saltBefore, 'base64url'), Number(cost))
  return timingSafeEqual(found, Buffer.from(hashBefore, 'base64url'))
}

/** Whether the password is to be hashed anew when it is next known. */
export function isOutdated(stored: string): boolean {
  return !STORED.test(stored)
}

/** The same password may be typed in two Unicode forms. */
function normalized(password: string): string {
  return password.normalize('NFKC')
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

function deriveArgon2(message: string, nonce: Buffer, cost: PasswordCost): Promise<Buffer> {
  const parameters = { message, nonce, parallelism: 1, tagLength: KEY_BYTES, ...cost }
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

function deriveScrypt(text: string, salt: Buffer, cost: number): Promise<Buffer> {
  const options = { N: cost, r: 8, p: 1, maxmem: 2048 * cost }
  return new Promise((resolve, reject) => {
    scrypt(text, salt, KEY_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
