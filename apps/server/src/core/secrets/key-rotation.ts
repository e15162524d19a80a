import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Kysely, sql, type Transaction } from 'kysely'
import { updateStated } from '../../changes/change.ts'
import type { Database } from '../../db/schema.ts'
import { layNextKey, nameKey, openSecretKey, takeNext } from './key-file.ts'
import { createSecrets, isSealed } from './secrets.ts'

/**
 * Seals everything again, with a new key. No server may run on this database meanwhile. Killed at any point, the next
 * start finds the one key that fits: the database names it in the same transaction.
 * @returns how many secrets there are
 * @throws SecretsError when the key in use does not open one; nothing has changed then
 */
export async function rotateSecretKey(db: Kysely<Database>, file: string): Promise<number> {
  const from = createSecrets(await openSecretKey(db, file, true))
  const key = randomBytes(32)
  const to = createSecrets(key)
  await layNextKey(file, key)
  const count = await db.transaction().execute(async (tx) => {
    const sealed = await sealAnew(tx, (text) => to.seal(from.open(text)))
    await nameKey(tx, key)
    return sealed
  })
  await takeNext(file)
  // What the old key opens is in none of the file's free pages any more.
  await sql`VACUUM`.execute(db)
  await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db)
  return count
}

/** What upgrades left beside the database is sealed with the key of before, which nobody has any more. @returns how many */
export function removeCopies(database: string): number {
  const [dir, start] = [dirname(database), `${basename(database)}.version-`]
  const copies = readdirSync(dir).filter((name) => name.startsWith(start))
  for (const name of copies) rmSync(join(dir, name), { force: true })
  return copies.length
}

type Renew = (sealed: string) => string

/** Every column of `Sealed` in the schema, and the settings that are. @returns how many there were */
async function sealAnew(tx: Transaction<Database>, renew: Renew): Promise<number> {
  let count = 0
  const renewed = (sealed: string) => {
    count++
    return renew(sealed)
  }
  const orNull = (sealed: string | null) => sealed && renewed(sealed)
  const settings = await tx.selectFrom('settings').selectAll().execute()
  for (const { key, value } of settings.filter((row) => isSealed(row.value)))
    await tx
      .updateTable('settings')
      .set({ value: renewed(value) })
      .where('key', '=', key)
      .execute()
  // The edges get the same as before, so the rows keep their revisions.
  const nodes = await tx
    .selectFrom('nodes')
    .select(['id', 'revision', 'private_key', 'preshared_key'])
    .execute()
  for (const { id, revision, private_key, preshared_key } of nodes) {
    const keys = { private_key: orNull(private_key), preshared_key: orNull(preshared_key) }
    await updateStated(tx, 'nodes', id, revision, keys)
  }
  const certificates = await tx.selectFrom('certificates').select(['id', 'revision', 'private_key']).execute()
  for (const { id, revision, private_key } of certificates) {
    const keys = { private_key: orNull(private_key) }
    await updateStated(tx, 'certificates', id, revision, keys)
  }
  const orders = await tx.selectFrom('orders').select(['id', 'private_key']).execute()
  for (const { id, private_key } of orders)
    await tx
      .updateTable('orders')
      .set({ private_key: orNull(private_key) })
      .where('id', '=', id)
      .execute()
  return count
}
