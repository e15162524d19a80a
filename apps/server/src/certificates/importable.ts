import type { Context } from '../context.ts'
import { findSettings, putSettings } from '../db/settings.ts'
import { permits } from './issue.ts'
import { installationNames } from './renewal.ts'

const IMPORTABLE = 'ca.importable'

/**
 * The root that people import, PEM: the key and the name of the authority's own root, but good only for the names
 * of the installation as they are now. The same one is given until they change.
 */
export async function getImportableRoot(context: Context): Promise<string> {
  const names = await listNames(context)
  const held = (await findSettings(context.db, IMPORTABLE))?.[IMPORTABLE]
  if (held !== undefined && permits(held, names)) return held
  const value = await context.authority.issueImportable(names)
  await putSettings(context.db, { [IMPORTABLE]: value })
  return value
}

async function listNames(context: Context): Promise<string[]> {
  const domains = await context.db.selectFrom('domains').select('domain').execute()
  return [...installationNames(context), ...domains.map(({ domain }) => domain)]
}
