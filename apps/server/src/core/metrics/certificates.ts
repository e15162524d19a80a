import { describeCertificate } from '../../certificates/describe.ts'
import { findPause } from '../../certificates/orders/pause.ts'
import type { Context } from '../../context.ts'
import { type Family, labelsOf, samplesOf, secondsOf, yesNo } from './family.ts'
import { type KnownCertificate, readInParts } from './inventory.ts'

export async function measureCertificates(
  context: Context,
  certificates: readonly KnownCertificate[],
): Promise<Family[]> {
  const { db, clock } = context
  const orders = new Map(
    await readInParts(
      (after, limit) =>
        db
          .selectFrom('orders')
          .select(['id', 'domain_id', 'step', 'due_at', 'problem', 'failures'])
          .where('id', '>', after)
          .orderBy('id')
          .limit(limit)
          .execute(),
      (row) => [row.domain_id, row] as const,
    ),
  )
  const [now, pause] = [clock(), await findPause(context)]
  const described = certificates.map(({ domainId, ssl, held, labels }) => {
    const order = domainId === null ? null : (orders.get(domainId) ?? null)
    const { status } = describeCertificate({ ssl, held, order, pause }, now)
    const end = held.not_after === null ? null : Date.parse(held.not_after)
    const isOver = status === 'valid' && end !== null && end <= now
    return { labels, order, end, state: isOver ? 'expired' : status }
  })
  return [
    {
      name: 'postern_certificate_expiry_timestamp_seconds',
      kind: 'gauge',
      help: "When the certificate of a domain ends, and the installation's own, which has the public host as its domain.",
      samples: samplesOf(described, ({ end }) => end && secondsOf(end)),
    },
    {
      name: 'postern_certificate_valid',
      kind: 'gauge',
      help: 'Whether a domain has the certificate that was chosen for it, and it has not ended.',
      samples: samplesOf(described, ({ state }) => yesNo(state === 'valid')),
    },
    {
      name: 'postern_certificate_order_failures',
      kind: 'gauge',
      help: 'How often in a row the authority did not sign a certificate for a domain.',
      samples: samplesOf(described, ({ order }) => order?.failures ?? 0),
    },
    {
      name: 'postern_certificates',
      kind: 'gauge',
      help: 'How many certificates are in each state.',
      samples: (['valid', 'pending', 'failed', 'expired'] as const).map((state) => [
        labelsOf({ state }),
        described.filter((each) => each.state === state).length,
      ]),
    },
  ]
}
