import type { Overview } from '@postern/contract/overview'
import type { Context } from '../../context.ts'

type Db = Context['db']

/**
 * How many domains are in each state, as in their list. Only those that are not valid are read, because the rows of
 * certificates are large.
 */
export async function countCertificates({ db }: Context): Promise<Overview['certificates']> {
  const domains = await countOf(
    db.selectFrom('domains').select(({ fn }) => fn.countAll<number>().as('count')),
  )
  const held = await countOf(
    db.selectFrom('certificates').select(({ fn }) => fn.count<number>('domain_id').as('count')),
  )
  const ordered = await countOf(selectOrdered(db).select(({ fn }) => fn.countAll<number>().as('count')))
  const unissued = await countOf(selectUnissued(db).select(({ fn }) => fn.countAll<number>().as('count')))
  const own = await selectOwnWithout(db).select('certificates.status').execute()
  const ownFailed = own.filter(({ status }) => status === 'failed').length
  const failed = unissued + ownFailed
  // A domain without a row gets one in a moment.
  const pending = ordered + own.length - ownFailed + Math.max(0, domains - held)
  return { valid: Math.max(0, domains - pending - failed), pending, failed }
}

async function countOf(query: { executeTakeFirstOrThrow(): Promise<{ count: number }> }): Promise<number> {
  return (await query.executeTakeFirstOrThrow()).count
}

/** The domains whose order has failed and that have no certificate of the authority yet. */
export function selectUnissued(db: Db) {
  return db
    .selectFrom('orders')
    .innerJoin('domains', 'domains.id', 'orders.domain_id')
    .leftJoin('certificates', 'certificates.domain_id', 'domains.id')
    .where('domains.ssl', '=', 'certbot')
    .where('orders.step', 'is', null)
    .where('orders.problem', 'is not', null)
    .where((eb) => eb.or([eb('certificates.kind', 'is', null), eb('certificates.kind', '!=', 'certbot')]))
}

/** The same for those whose order is under way. */
function selectOrdered(db: Db) {
  return db
    .selectFrom('orders')
    .innerJoin('domains', 'domains.id', 'orders.domain_id')
    .innerJoin('certificates', 'certificates.domain_id', 'domains.id')
    .where('domains.ssl', '=', 'certbot')
    .where('orders.step', 'is not', null)
    .where('certificates.kind', '!=', 'certbot')
}

/** Domains whose certificate our own authority has not signed yet, or could not sign. */
function selectOwnWithout(db: Db) {
  return db
    .selectFrom('certificates')
    .leftJoin('orders', 'orders.domain_id', 'certificates.domain_id')
    .where('certificates.not_after', 'is', null)
    .where('certificates.domain_id', 'is not', null)
    .where('orders.id', 'is', null)
}
