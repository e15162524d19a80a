import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** A stored secret that this installation's key does not open. */
export class SecretsError extends Error {
  readonly code = 'secrets'
}

/**
 * Seals texts that must not be readable in a copy of the database. Each is bound to its place (`PLACES`), so that
 * somebody who can write to the database, but has no key, cannot move one.
 */
export interface Secrets {
  /** @returns `v2.<iv>.<tag>.<text>`, each part base64url; never twice the same. */
  seal(text: string, place: string): string
  /** @throws SecretsError when it was sealed with another key or for another place, or was changed */
  open(sealed: string, place: string): string
  /** @returns a key of 32 bytes for one purpose (HKDF-SHA256), which tells nothing of this key or another purpose's */
  derive(purpose: string, salt: Buffer): Buffer
}

/** Where sealed texts are stored: table, row and column. */
export const PLACES = {
  setting: (key: string) => `settings ${key} value`,
  node: (id: number, column: 'private_key' | 'preshared_key') => `nodes ${id} ${column}`,
  /** By its domain, which never changes; the installation's own has none. */
  certificate: (domainId: number | null) => `certificates ${domainId ?? 'installation'} private_key`,
  order: (id: number) => `orders ${id} private_key`,
  authenticator: (userId: number) => `authenticators ${userId} secret`,
  provider: (id: number) => `console_providers ${id} client_secret`,
  edge: (id: number) => `edges ${id} private_key`,
  channel: (id: number) => `alert_channels ${id} secrets`,
}

/** AES-256-GCM with a key of 32 bytes; the place is authenticated together with the text. */
export function createSecrets(key: Buffer): Secrets {
  return {
    seal(text, place) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return ['v2', ...[iv, cipher.getAuthTag(), body].map((part) => part.toString('base64url'))].join('.')
    },
    open: (sealed, place) => decipher(key, sealed, 'v2', place),
    derive: (purpose, salt) => Buffer.from(hkdfSync('sha256', key, salt, `postern ${purpose}`, 32)),
  }
}

/**
 * Opens a text that an earlier version sealed, without a place.
 * @throws SecretsError
 */
export function openUnbound(key: Buffer, sealed: string): string {
  return decipher(key, sealed, UNBOUND, '')
}

const UNBOUND = 'v1'

function decipher(key: Buffer, sealed: string, wanted: string, place: string): string {
  const [version, ...parts] = sealed.split('.')
  const [iv, tag, body] = parts.map((part) => Buffer.from(part, 'base64url'))
  if (version !== wanted || !iv || tag?.length !== 16 || !body) throw new SecretsError('not a sealed secret')
  try {
    const opening = createDecipheriv('aes-256-gcm', key, iv).setAuthTag(tag).setAAD(Buffer.from(place))
    return Buffer.concat([opening.update(body), opening.final()]).toString('utf8')
  } catch (cause) {
    throw new SecretsError('a stored secret cannot be opened with this key, or not in this row', { cause })
  }
}

/** True for a text of the form that `seal` gives, or gave in earlier versions. */
export function isSealed(text: string): boolean {
  return /^v[12]\.[\w-]{16}\.[\w-]{22}\.[\w-]*$/.test(text)
}

export function isUnbound(sealed: string): boolean {
  return sealed.startsWith(`${UNBOUND}.`)
}

/** Tokens have 256 random bits; a plain hash keeps them from being read out of the database. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Compares two hashes in constant time. */
export function isSameHash(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
