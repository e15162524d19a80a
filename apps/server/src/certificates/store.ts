import type { Certificate } from '@postern/contract/domains'
import type { Kysely } from 'kysely'
import type { Secrets } from '../core/secrets.ts'
import type { CertificateRow, Database } from '../db/schema.ts'
import type { Authority } from './authority.ts'
import type { IssuedCertificate } from './issue.ts'

/** The row of the installation's own certificate. */
export const INSTALLATION_CERTIFICATE = 0

interface Stored {
  authority: Pick<Authority, 'name'>
  secrets: Secrets
  issued: IssuedCertificate
  /** RFC 3339 */
  now: string
}

/** Keeps a certificate under a domain, or as the installation's own, in place of the one before. */
export async function storeCertificate(
  db: Kysely<Database>,
  owner: { domainId: number } | 'installation',
  { authority, secrets, issued, now }: Stored,
): Promise<void> {
  const values = {
    status: 'valid',
    issuer: authority.name,
    chain: issued.certificate,
    private_key: secrets.seal(issued.privateKey),
    not_before: issued.notBefore.toISOString(),
    not_after: issued.notAfter.toISOString(),
    error: null,
    updated_at: now,
  } as const
  const own =
    owner === 'installation'
      ? { id: INSTALLATION_CERTIFICATE, domain_id: null }
      : { domain_id: owner.domainId }
  await db
    .insertInto('certificates')
    .values({ ...own, ...values, created_at: now })
    .onConflict((conflict) =>
      conflict.column(owner === 'installation' ? 'id' : 'domain_id').doUpdateSet(values),
    )
    .execute()
}

/** Says why a domain has no new certificate; one that it has stays in use. */
export async function storeFailure(
  db: Kysely<Database>,
  domainId: number,
  error: string,
  now: string,
): Promise<void> {
  const values = { status: 'failed', error, updated_at: now } as const
  await db
    .insertInto('certificates')
    .values({ domain_id: domainId, ...values, created_at: now })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(values))
    .execute()
}

type Described = Pick<CertificateRow, 'status' | 'issuer' | 'not_after' | 'error'>

/** What a person is told of a domain's certificate. */
export function describeCertificate(row: Described | undefined): Certificate {
  return row
    ? { status: row.status, issuer: row.issuer, notAfter: row.not_after, error: row.error }
    : { status: 'pending', issuer: null, notAfter: null, error: null }
}
