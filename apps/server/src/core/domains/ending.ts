import type { EndingCertificates } from '@postern/contract/domains'
import { describeCertificate, WARN_BEFORE, warnsFrom } from '../../certificates/describe.ts'
import { findPause } from '../../certificates/orders/pause.ts'
import type { Context } from '../../context.ts'

/** How many are listed; with more, the cause is hardly a single certificate. */
const MOST = 100

const DAY = 86_400_000

/** The certificates that expire soon because their renewal fails, those that expire first at the top. */
export async function listEndingCertificates(context: Context): Promise<EndingCertificates> {
  const [now, pause] = [context.clock(), await findPause(context)]
  // Also those that join by time alone before the console asks again.
  const rows = await readFailing(context, now + DAY + WARN_BEFORE, pause !== undefined)
  const data = rows.flatMap((held) => {
    const { id, domain, ssl, step, due_at, problem } = held
    const order = due_at === null ? null : { step, due_at, problem }
    const { renewalFailing, notAfter, error } = describeCertificate({ ssl, held, order, pause }, now)
    return renewalFailing && notAfter !== null ? [{ id, domain, notAfter, error: error ?? '' }] : []
  })
  const waits = rows.map((held) => warnsFrom(held) - now).filter((wait) => wait > 0)
  return { data, nextInMs: Math.min(DAY, ...waits) }
}

/** Certificates that expire by then and have no successor yet. */
function readFailing({ db }: Context, end: number, isPaused: boolean) {
  return db
    .selectFrom('certificates')
    .innerJoin('domains', 'domains.id', 'certificates.domain_id')
    .leftJoin('orders', 'orders.domain_id', 'domains.id')
    .select(['domains.id', 'domains.domain', 'domains.ssl', 'step', 'due_at', 'problem'])
    .select(['status', 'kind', 'issuer', 'not_before', 'not_after', 'error', 'certificates.updated_at'])
    .where('not_after', '<=', new Date(end).toISOString())
    .where((eb) =>
      eb.or([
        eb('error', 'is not', null),
        eb('problem', 'is not', null),
        ...(isPaused ? [eb('step', '=', 'queued')] : []),
      ]),
    )
    .orderBy('not_after')
    .orderBy('domains.id')
    .limit(MOST)
    .execute()
}
