import { X509Certificate } from 'node:crypto'
import type { RootCertificate } from '@postern/contract/domains'
import type { Context } from '../context.ts'
import { listGiven } from '../core/publishing/given.ts'
import { findSettings, putSettings } from '../db/settings.ts'
import { permits } from './issue.ts'
import { installationNames } from './renewal.ts'

const IMPORTABLE = 'ca.importable'

/**
 * The root that people import, PEM: the key and the name of the authority's own root, but limited to the
 * installation's present names. It stays the same until they change.
 */
export async function getImportableRoot(context: Context): Promise<string> {
  const names = await listNames(context)
  const held = (await findSettings(context.db, IMPORTABLE))?.[IMPORTABLE]
  if (held !== undefined && (await permits(held, context.authority, names))) return held
  const value = await context.authority.issueImportable(names)
  await putSettings(context.db, { [IMPORTABLE]: value })
  return value
}

/** The fingerprint that a person compares before trusting it. */
export async function describeImportableRoot(context: Context): Promise<RootCertificate> {
  const { fingerprint256, validToDate } = new X509Certificate(await getImportableRoot(context))
  return {
    name: context.authority.name,
    fingerprint: fingerprint256,
    notAfter: validToDate.toISOString(),
  }
}

async function listNames(context: Context): Promise<string[]> {
  const { db } = context
  // Domains that agents brought are no reason to trust this installation with a name.
  const domains = await db
    .selectFrom('domains')
    .select('domain')
    .where('id', 'not in', db.selectFrom('published_domains').select('domain_id'))
    .orderBy('id')
    .execute()
  const names = [...domains.map(({ domain }) => domain), ...(await listGiven(db))]
  return [...installationNames(context), ...new Set(names)]
}
