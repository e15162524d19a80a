import type { Kysely } from 'kysely'
import type { Database } from './schema.ts'

/**
 * Values that the installation stores for itself.
 * @returns undefined unless all of them exist
 */
export async function findSettings<const K extends string>(
  db: Kysely<Database>,
  ...keys: K[]
): Promise<Record<K, string> | undefined> {
  const rows = await db.selectFrom('settings').selectAll().where('key', 'in', keys).execute()
  // As many rows as keys: each key has one.
  if (rows.length < keys.length) return undefined
  return Object.fromEntries(rows.map(({ key, value }) => [key, value])) as Record<K, string>
}

export async function putSettings(
  db: Kysely<Database>,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await db
    .insertInto('settings')
    .values(Object.entries(settings).map(([key, value]) => ({ key, value })))
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet(({ ref }) => ({ value: ref('excluded.value') })),
    )
    .execute()
}
