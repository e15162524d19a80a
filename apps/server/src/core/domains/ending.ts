import type { EndingCertificate } from '@postern/contract/domains'
import { describeCertificate, WARN_BEFORE } from '../../certificates/describe.ts'
import { findPause } from '../../certificates/orders/pause.ts'
import type { Context } from '../../context.ts'

/** So many are named; with more of them the reason is hardly in one of them. */
const MOST = 100

/** The certificates that will end soon, because their renewal fails; those that end first come first. */
export async function listEndingCertificates(context: Context): Promise<EndingCertificate[]> {
  const { db, clock } = context
  const [now, pause] = [clock(), await findPause(context)]
  const rows = await db
    .selectFrom('certificates')
    .innerJoin('domains', 'domains.id', 'certificates.domain_id')
    .leftJoin('orders', 'orders.domain_id', 'domains.id')
    .select(['domains.id', 'domains.domain', 'domains.ssl', 'step', 'due_at', 'problem'])
    .select(['status', 'kind', 'issuer', 'not_before', 'not_after', 'error', 'certificates.updated_at'])
    .where('not_after', '<=', new Date(now + WARN_BEFORE).toISOString())
    .where((eb) =>
      eb.or([
        eb('error', 'is not', null),
        eb('problem', 'is not', null),
        ...(pause ? [eb('step', '=', 'queued')] : []),
      ]),
    )
    .orderBy('not_after')
    .limit(MOST)
    .execute()
  return rows.flatMap((held) => {
    const { id, domain, ssl, step, due_at, problem } = held
    const order = due_at === null ? null : { step, due_at, problem }
    const { renewalFailing, notAfter, error } = describeCertificate({ ssl, held, order, pause }, now)
    return renewalFailing && notAfter !== null ? [{ id, domain, notAfter, error: error ?? '' }] : []
  })
}
