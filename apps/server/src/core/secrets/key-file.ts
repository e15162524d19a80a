import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory, writeAtomic } from '@postern/host/files'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import { SecretsError } from './secrets.ts'

const KEY_BYTES = 32
const KEY_ID = 'secret.key_id'

/** Where the next key waits until everything is sealed with it. */
const nextOf = (file: string) => `${file}.new`

/**
 * The key of this database: the file's, or the next one's when a rotation ended between its transaction and the
 * change of the files, which is then made up for. Makes the first one (0600) when none was ever used.
 * @throws SecretsError when the file is no key, is another database's, or is missing beside one that is sealed.
 */
export async function openSecretKey(db: Kysely<Database>, file: string, isUsed: boolean): Promise<Buffer> {
  const wanted = (await findSettings(db, KEY_ID))?.[KEY_ID]
  if (!existsSync(file) && !isUsed) await writeKey(file, randomBytes(KEY_BYTES))
  if (existsSync(nextOf(file)) && wanted === idOf(readKey(nextOf(file)))) await takeNext(file)
  // What is left of a rotation that ended too early.
  for (const left of [nextOf(file), `${nextOf(file)}.tmp`]) rmSync(left, { force: true })
  const key = readKey(file)
  if (wanted !== undefined && wanted !== idOf(key))
    throw new SecretsError(`${file} is not the key of this database: restore both from the same backup`)
  return key
}

/** Writes a new key beside the one in use. It counts from the moment that the database names it. */
export async function layNextKey(file: string, key: Buffer): Promise<void> {
  await writeKey(nextOf(file), key)
}

/** Puts the next key in the place of the one before, which is gone then. */
export async function takeNext(file: string): Promise<void> {
  await rename(nextOf(file), file)
  await syncDirectory(dirname(file))
}

/** Says in the database, in a transaction with what was sealed, which key opens it. */
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
  await writeAtomic(file, `${key.toString('base64')}\n`, 0o600)
}
