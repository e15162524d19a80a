import type { Kysely } from 'kysely'
import type { Context } from '../context.ts'
import type { Database } from '../db/schema.ts'
import { permits } from './issue.ts'
import { installationNames } from './renewal.ts'

const IMPORTABLE = 'ca.importable'

/**
 * The root that people import, PEM: the key and the name of the authority's own root, but good only for the names
 * of the installation as they are now. The same one is given until they change.
 */
export async function getImportableRoot(context: Context): Promise<string> {
  const names = await listNames(context)
  const held = await findHeld(context.db)
  if (held !== undefined && permits(held, names)) return held
  const value = await context.authority.issueImportable(names)
  await context.db
    .insertInto('settings')
    .values({ key: IMPORTABLE, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
  return value
}

async function listNames(context: Context): Promise<string[]> {
  const domains = await context.db.selectFrom('domains').select('domain').execute()
  return [...installationNames(context), ...domains.map(({ domain }) => domain)]
}

async function findHeld(db: Kysely<Database>): Promise<string | undefined> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', IMPORTABLE).executeTakeFirst()
  return row?.value
}
