import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** A stored secret that this installation's key does not open. */
export class SecretsError extends Error {
  readonly code = 'secrets'
}

/** Seals texts that must not be readable in a copy of the database. */
export interface Secrets {
  /** @returns `v1.<iv>.<tag>.<text>`, each part base64url; never twice the same. */
  seal(text: string): string
  /** @throws SecretsError when it was sealed with another key, or changed. */
  open(sealed: string): string
}

/** AES-256-GCM with a key of 32 bytes. */
export function createSecrets(key: Buffer): Secrets {
  return {
    seal(text) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, iv)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return ['v1', ...[iv, cipher.getAuthTag(), body].map((part) => part.toString('base64url'))].join('.')
    },
    open(sealed) {
      const [version, ...parts] = sealed.split('.')
      const [iv, tag, body] = parts.map((part) => Buffer.from(part, 'base64url'))
      if (version !== 'v1' || !iv || tag?.length !== 16 || !body)
        throw new SecretsError('not a sealed secret')
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, iv).setAuthTag(tag)
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new SecretsError('a stored secret cannot be opened with this key', { cause })
      }
    },
  }
}

/** True for a text of the form that `seal` gives. */
export function isSealed(text: string): boolean {
  return /^v1\.[\w-]{16}\.[\w-]{22}\.[\w-]*$/.test(text)
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
