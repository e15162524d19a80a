import type { Certificate, CertificateProblem } from '@postern/contract/certificates'
import type { CertificateRow, DomainRow, OrderRow } from '../db/schema.ts'
import type { Pause } from './orders/pause.ts'

/** The stored data about a domain's certificate, and about the order for the next one. */
export interface CertificateState {
  ssl: DomainRow['ssl']
  held: Pick<
    CertificateRow,
    'status' | 'kind' | 'issuer' | 'not_before' | 'not_after' | 'error' | 'updated_at'
  > | null
  order: Pick<OrderRow, 'step' | 'due_at' | 'problem'> | null
  /** The pause while the authority makes all orders wait. */
  pause: Pause | undefined
}

const DAY = 86_400_000
/** A failing renewal causes a warning this long before the certificate expires … */
export const WARN_BEFORE = 14 * DAY
/** … but only in the last part of its lifetime, because some last only a few days. */
const WARN_SHARE = 1 / 4

/** What the console shows about a domain's certificate. */
export function describeCertificate({ ssl, held, order, pause }: CertificateState, now: number): Certificate {
  const isOrdered = ssl === 'certbot' && order !== null
  const wait = isOrdered ? waitOf(order, pause) : undefined
  const problem = isOrdered ? (wait?.problem ?? problemOf(order)) : ownProblem(held)
  const isAsWanted = held !== null && held.kind === (ssl ?? 'self-signed')
  return {
    status: isOrdered ? statusOf(isAsWanted, order, problem) : (held?.status ?? 'pending'),
    kind: held?.kind ?? 'self-signed',
    issuer: held?.issuer ?? null,
    notBefore: held?.not_before ?? null,
    notAfter: held?.not_after ?? null,
    step: isOrdered ? order.step : null,
    problem,
    error: problem?.detail ?? null,
    nextTryAt: wait ? new Date(wait.until).toISOString() : null,
    renewalFailing: problem !== null && isAsWanted && now >= warnsFrom(held),
  }
}

/** Until when an order waits because of a problem: its own, or one of all orders. */
function waitOf(
  { step, due_at, problem }: NonNullable<CertificateState['order']>,
  pause: Pause | undefined,
): { until: number; problem?: CertificateProblem } | undefined {
  if (step === 'queued') return pause
  return step === null && problem !== null ? { until: due_at } : undefined
}

function statusOf(
  isAsWanted: boolean,
  { step }: Pick<OrderRow, 'step'>,
  problem: CertificateProblem | null,
): Certificate['status'] {
  if (isAsWanted) return 'valid'
  return problem && step === null ? 'failed' : 'pending'
}

function problemOf({ problem }: { problem: string | null }): CertificateProblem | null {
  // This server wrote it in this form.
  return problem === null ? null : (JSON.parse(problem) as CertificateProblem)
}

function ownProblem(held: CertificateState['held']): CertificateProblem | null {
  if (!held || held.error === null) return null
  return { code: 'internal', detail: held.error, found: [], expected: [], at: held.updated_at }
}

/** From when on a certificate counts as expiring soon, in ms since the epoch. */
export function warnsFrom(held: Pick<CertificateRow, 'not_before' | 'not_after'>): number {
  const [from, to] = [Date.parse(held.not_before ?? ''), Date.parse(held.not_after ?? '')]
  return to - Math.min(WARN_BEFORE, (to - from) * WARN_SHARE)
}
