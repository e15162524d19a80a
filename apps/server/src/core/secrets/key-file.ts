import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory, writeAtomic } from '@postern/host/files'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import { createSecrets, type Secrets, SecretsError } from './secrets.ts'

const KEY_BYTES = 32
const KEY_ID = 'secret.key_id'

/** The file of the next key, until everything is sealed with it. */
const nextOf = (file: string) => `${file}.new`

/**
 * The key of this database: the file's, or the next one's if a rotation was interrupted between its transaction and
 * the change of the files, which is then completed. Makes the first one (0600) when none was ever used.
 * @throws SecretsError when the file is no key, belongs to another database, or is missing beside a sealed one
 */
export async function openSecretKey(db: Kysely<Database>, file: string, isUsed: boolean): Promise<Buffer> {
  const wanted = (await findSettings(db, KEY_ID))?.[KEY_ID]
  if (!existsSync(file) && !isUsed) await writeKey(file, randomBytes(KEY_BYTES))
  if (existsSync(nextOf(file)) && wanted === idOf(readKey(nextOf(file)))) await takeNext(file)
  // Left over from an interrupted rotation.
  for (const left of [nextOf(file), `${nextOf(file)}.tmp`]) rmSync(left, { force: true })
  const key = readKey(file)
  if (wanted !== undefined && wanted !== idOf(key))
    throw new SecretsError(`${file} is not the key of this database: restore both from the same backup`)
  return key
}

/** Writes a new key beside the one in use. It is used from the moment that the database names it. */
export async function layNextKey(file: string, key: Buffer): Promise<void> {
  await writeKey(nextOf(file), key)
}

/** Replaces the previous key by the next one. */
export async function takeNext(file: string): Promise<void> {
  await rename(nextOf(file), file)
  await syncDirectory(dirname(file))
}

/** Stores in the database, in the transaction that seals, which key opens it. */
export async function nameKey(db: Kysely<Database>, key: Buffer): Promise<void> {
  await putSettings(db, { [KEY_ID]: idOf(key) })
}

/** A hash of 32 random bytes gives nothing away. */
function idOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex')
}

function readKey(file: string): Buffer {
  if (!existsSync(file)) throw new SecretsError(`${file} is missing: restore it together with the database`)
  chmodSync(file, 0o600)
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
  if (key.length !== KEY_BYTES) throw new SecretsError(`${file} is not a key of ${KEY_BYTES} bytes in base64`)
  return key
}

async function writeKey(file: string, key: Buffer): Promise<void> {
  await writeAtomic(file, textOf(key), 0o600)
}

/**
 * The text of the key's file, for a copy beside that of the database.
 * @throws SecretsError when it is not the key that these secrets were opened with
 */
export function readKeyOf(file: string, secrets: Secrets): string {
  const key = readKey(file)
  createSecrets(key).open(secrets.seal('', 'backup'), 'backup')
  return textOf(key)
}

const textOf = (key: Buffer) => `${key.toString('base64')}\n`
