import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import type { Kysely, SelectQueryBuilder, Transaction } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { ConflictError, quoteNames } from '../errors.ts'

/** Domain → the e-mails of its list, in order of addition. */
export async function readMembers<DB, TB extends keyof DB>(
  db: Kysely<Database>,
  ids: SelectQueryBuilder<DB, TB, { id: number }> | readonly number[],
): Promise<Map<number, string[]>> {
  const rows = await db
    .selectFrom('domain_members')
    .select(['domain_id', 'email'])
    .where('domain_id', 'in', ids)
    .orderBy('id')
    .execute()
  const emails = new Map<number, string[]>()
  for (const { domain_id, email } of rows) emails.set(domain_id, [...(emails.get(domain_id) ?? []), email])
  return emails
}

/** Sets the list of a domain. Entries that stay keep their id, so that nobody on it has to sign in again. */
export async function writeMembers(
  tx: Transaction<Database>,
  domainId: number,
  emails: readonly string[],
): Promise<void> {
  const before = (await readMembers(tx, [domainId])).get(domainId) ?? []
  const gone = before.filter((email) => !emails.includes(email))
  const fresh = [...new Set(emails)].filter((email) => !before.includes(email))
  if (gone.length > 0)
    await tx
      .deleteFrom('domain_members')
      .where('domain_id', '=', domainId)
      .where('email', 'in', gone)
      .execute()
  if (fresh.length > 0)
    await tx
      .insertInto('domain_members')
      .values(fresh.map((email) => ({ domain_id: domainId, email })))
      .execute()
}

/**
 * The names of the TCP services that would see the cookies of visitors who sign in at the domain. Agents' services do
 * not count: they are withheld from then on.
 */
export async function listTlsPorts(db: Kysely<Database>, domainId: number): Promise<string[]> {
  const services = await db
    .selectFrom('services')
    .select('name')
    .where('domain_id', '=', domainId)
    .where('type', '=', 'tcp')
    .where('ssl', '=', 1)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('publications').select('key').whereRef('service_id', '=', 'services.id'))),
    )
    .orderBy('id')
    .execute()
  return services.map(({ name }) => name)
}

/** @throws ConflictError that names them */
export async function refuseShared(db: Kysely<Database>, id: number, isSwitchedOn: boolean): Promise<void> {
  const ports = isSwitchedOn ? await listTlsPorts(db, id) : []
  if (ports.length === 0) return
  const names = quoteNames(ports)
  const message = `Browsers would send the cookies of this sign-in to ${names} too. Give it another domain first.`
  throw new ConflictError(message, [{ field: 'authentication', message }], 'in_use')
}

/** Why sign-in cannot be switched on, if it is. */
export function findProviderProblem(
  { config }: Pick<Context, 'config'>,
  authentication: boolean | undefined,
  before = false,
): FieldError[] {
  const isNew = authentication === true && !before
  if (!isNew || config.settings.POSTERN_OIDC_ISSUER !== null) return []
  return [{ field: 'authentication', message: MESSAGES.noProvider }]
}

/** @throws ConflictError that names the services which require sign-in, when it is switched off under them */
export async function refuseRequired(db: Kysely<Database>, id: number, isOn: boolean): Promise<void> {
  if (isOn) return
  const services = await db
    .selectFrom('services')
    .select('name')
    .where('domain_id', '=', id)
    .where('require_auth', '=', 1)
    .orderBy('id')
    .execute()
  if (services.length === 0) return
  const names = quoteNames(services.map(({ name }) => name))
  const message = `Authentication is required by ${names}. Switch it off there first.`
  throw new ConflictError(message, [{ field: 'authentication', message }], 'in_use')
}
