import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { layNextKey, nameKey, takeNext } from './key-file.ts'
import { openSecrets, sealAnew } from './sealed-rows.ts'
import { createSecrets } from './secrets.ts'

/**
 * Seals everything again, with a new key. No server may run on this database meanwhile. If it is killed at any point,
 * the next start finds the right key, because the database names it in the same transaction.
 * @returns how many secrets there are
 * @throws SecretsError when the key in use does not open one; nothing has changed then
 */
export async function rotateSecretKey(db: Kysely<Database>, file: string): Promise<number> {
  const from = await openSecrets(db, file, true)
  const key = randomBytes(32)
  const to = createSecrets(key)
  await layNextKey(file, key)
  const count = await db.transaction().execute(async (tx) => {
    const sealed = await sealAnew(tx, (text, place) => to.seal(from.open(text, place), place))
    await nameKey(tx, key)
    return sealed
  })
  await takeNext(file)
  // Removes texts that the old key opens from the file's free pages.
  await sql`VACUUM`.execute(db)
  await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db)
  return count
}

/**
 * Removes the copies that upgrades left beside the database: they are sealed with the previous key, which no longer
 * exists.
 * @returns how many
 */
export function removeCopies(database: string): number {
  const [dir, start] = [dirname(database), `${basename(database)}.version-`]
  const copies = readdirSync(dir).filter((name) => name.startsWith(start))
  for (const name of copies) rmSync(join(dir, name), { force: true })
  return copies.length
}
