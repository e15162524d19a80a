import type { CertificateKind } from '@postern/contract/certificates'
import type { Transaction } from 'kysely'
import { updateStated } from '../changes/change.ts'
import { PLACES, type Secrets } from '../core/secrets/secrets.ts'
import type { CertificateRow, Database, StatedUpdate } from '../db/schema.ts'
import type { Authority } from './authority.ts'
import type { IssuedCertificate } from './issue.ts'

/** The row of the installation's own certificate. */
export const INSTALLATION_CERTIFICATE = 0

interface Stored {
  kind: CertificateKind
  /** The name of the authority that signed it. */
  issuer: string
  secrets: Secrets
  issued: Pick<IssuedCertificate, 'certificate' | 'privateKey' | 'notBefore' | 'notAfter'>
  /** RFC 3339 */
  now: string
  revision: number
}

/** Stores a certificate for a domain, or as the installation's own, in place of the previous one. */
export async function storeCertificate(
  tx: Transaction<Database>,
  owner: { domainId: number } | 'installation',
  { kind, issuer, secrets, issued, now, revision }: Stored,
): Promise<void> {
  const own =
    owner === 'installation'
      ? { id: INSTALLATION_CERTIFICATE, domain_id: null }
      : { domain_id: owner.domainId }
  const values = {
    status: 'valid',
    kind,
    issuer,
    chain: issued.certificate,
    private_key: secrets.seal(issued.privateKey, PLACES.certificate(own.domain_id)),
    not_before: issued.notBefore.toISOString(),
    not_after: issued.notAfter.toISOString(),
    error: null,
    updated_at: now,
  } as const
  await writeCertificate(tx, own, revision, values)
}

/** Stores why a domain has no new certificate; its present one stays in use. */
export async function storeFailure(
  tx: Transaction<Database>,
  domainId: number,
  error: string,
  { now, revision }: { now: string; revision: number },
): Promise<void> {
  await writeCertificate(tx, { domain_id: domainId }, revision, { status: 'failed', error, updated_at: now })
}

type Owner = { id: number; domain_id: null } | { domain_id: number }

async function writeCertificate(
  tx: Transaction<Database>,
  owner: Owner,
  revision: number,
  values: StatedUpdate<'certificates'> & Pick<CertificateRow, 'status' | 'updated_at'>,
): Promise<void> {
  const row = await tx
    .selectFrom('certificates')
    .select('id')
    .where((eb) => ('id' in owner ? eb('id', '=', owner.id) : eb('domain_id', '=', owner.domain_id)))
    .executeTakeFirst()
  if (row) return await updateStated(tx, 'certificates', row.id, revision, values)
  await tx
    .insertInto('certificates')
    .values({ ...owner, ...values, revision, created_at: values.updated_at })
    .execute()
}

/** Stores a certificate of the installation's own authority. */
export async function storeOwn(
  tx: Transaction<Database>,
  owner: { domainId: number } | 'installation',
  stored: Omit<Stored, 'kind' | 'issuer'> & { authority: Pick<Authority, 'name'> },
): Promise<void> {
  await storeCertificate(tx, owner, { ...stored, kind: 'self-signed', issuer: stored.authority.name })
}
