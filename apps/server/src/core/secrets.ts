import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'

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

const KEY_BYTES = 32

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

/**
 * Reads the key file, or makes it (0600) when there is none and none was ever used.
 * @throws SecretsError when the file is no key, or is missing beside a database that was sealed with it.
 */
export function readSecretKey(file: string, isUsed: boolean): Buffer {
  if (!existsSync(file)) {
    if (isUsed) throw new SecretsError(`${file} is missing: restore it together with the database`)
    writeFileSync(file, `${randomBytes(KEY_BYTES).toString('base64')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    })
  }
  chmodSync(file, 0o600)
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
  if (key.length !== KEY_BYTES) throw new SecretsError(`${file} is not a key of ${KEY_BYTES} bytes in base64`)
  return key
}
