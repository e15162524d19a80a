import type { FieldError } from '@postern/contract/errors'
import type { Kysely, Transaction } from 'kysely'
import type { IssuedCertificate } from '../../certificates/issue.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { findDomainProblem } from '../domains/checks.ts'
import { insertDomain } from '../domains/domains.ts'
import { ValidationError } from '../errors.ts'
import type { ServiceForm } from './backend-host.ts'

export async function findDomainId(db: Kysely<Database>, domain: string): Promise<number | undefined> {
  const row = await db.selectFrom('domains').select('id').where('domain', '=', domain).executeTakeFirst()
  return row?.id
}

/** The new domain in a form, and the reasons against creating it. One that cannot be parsed counts as none. */
export async function findNewDomain(
  context: Context,
  { domain, skipValidation = false }: Partial<ServiceForm>,
): Promise<{ name: string | null; invalid: FieldError[] }> {
  const isNew =
    domain !== undefined && domain !== null && (await findDomainId(context.db, domain)) === undefined
  if (!isNew) return { name: null, invalid: [] }
  const message = await findDomainProblem(context, domain, skipValidation)
  return { name: domain, invalid: message === undefined ? [] : [{ field: 'domain', message }] }
}

/** The domain of a service: its id, and whether it was created for it. */
export interface TakenDomain {
  id: number | null
  made: number[]
}

/**
 * @param issued the certificate, if the domain was new when the form was checked
 * @throws ValidationError when the domain existed then, but was deleted since
 */
export async function takeDomain(
  context: Context,
  tx: Transaction<Database>,
  { domain, skipValidation }: ServiceForm,
  { issued, revision }: { issued: IssuedCertificate | null; revision: number },
): Promise<TakenDomain> {
  if (domain === null) return { id: null, made: [] }
  const existing = await findDomainId(tx, domain)
  if (existing !== undefined) return { id: existing, made: [] }
  if (!issued)
    throw new ValidationError([
      { field: 'domain', message: `${domain} was deleted in the meantime: save again` },
    ])
  const id = await insertDomain(context, tx, { domain, ssl: 'self-signed', skipValidation, revision, issued })
  return { id, made: [id] }
}
