import type { CertificateProblem, CertificateProblemCode, OrderStep } from '@postern/contract/certificates'
import type { Domain } from '@postern/contract/domains'
import { formatDate, formatMoment } from '../../util/time.ts'

const KINDS = { 'self-signed': 'Self Signed', certbot: "Let's Encrypt" } as const

/** The chosen type of a domain's certificate; null reads as Self Signed. */
export function kindText({ ssl }: Pick<Domain, 'ssl'>): string {
  return KINDS[ssl ?? 'self-signed']
}

/** The badge's text and tone. */
export function statusOf({ ssl, certificate }: Domain) {
  if (certificate.renewalFailing) return { kind: 'warn', text: 'Expires soon' } as const
  if (certificate.status === 'valid')
    return { kind: ssl === 'certbot' ? 'ok' : 'mute', text: 'Valid' } as const
  if (certificate.status === 'failed') return { kind: 'bad', text: 'Failed' } as const
  return { kind: 'info', text: 'Pending' } as const
}

const STEPS: Record<OrderStep, string> = {
  queued: 'waiting for its turn',
  ordering: 'placing the order',
  preparing: 'publishing the answer for the authority',
  validating: 'the authority is checking the domain',
  finalizing: 'the authority is signing',
}

/** The certificate in use, or the step of its order. */
export function detailText({ certificate, skipValidation }: Domain): string {
  const { status, step, issuer, notAfter, nextTryAt } = certificate
  if (status === 'pending' && nextTryAt) return 'waiting for the authority'
  if (status === 'pending') return STEPS[step ?? 'queued']
  if (status === 'failed') return step ? `trying again: ${STEPS[step]}` : ''
  const parts = [
    notAfter && `until ${formatDate(notAfter)}`,
    issuer && `by ${issuer}`,
    step && `renewing: ${STEPS[step]}`,
    skipValidation && 'validation skipped',
  ]
  return parts.filter(Boolean).join(', ')
}

/** What helps against each kind of problem; undefined where only waiting does. */
const ADVICE: Record<CertificateProblemCode, (problem: CertificateProblem) => string | undefined> = {
  dns: ({ found, expected }) => `DNS has ${listed(found, 'no address')} for it.${pointTo(expected)}`,
  unreachable: () => 'The authority connects to port 80 of this server: open it to the internet.',
  answer: ({ found, expected }) =>
    `Another server answered at ${listed(found, 'its address')}.${pointTo(expected)}`,
  caa: () => 'Add a CAA record for this authority, or remove the existing ones.',
  'rate-limit': () => undefined,
  rejected: () => "This authority won't issue a certificate for this name. Choose Self Signed.",
  account: () => 'Check the settings POSTERN_ACME_EMAIL, POSTERN_ACME_EAB_KID and POSTERN_ACME_EAB_HMAC.',
  authority: () => undefined,
  edge: () => "The edge hasn't accepted the challenge yet. See the problem at the bottom of the sidebar.",
  internal: () => "The reason is in the server's log.",
}

/** Why there is no newer certificate, what to do about it, and when it is tried again; undefined without a problem. */
export function problemText({ certificate }: Domain): string | undefined {
  const { problem, nextTryAt } = certificate
  if (!problem) return undefined
  const detail = problem.detail.trim()
  const end = detail === '' || /[.!?]$/.test(detail) ? detail : `${detail}.`
  const next = nextTryAt ? `Next try: ${formatMoment(nextTryAt)}.` : undefined
  return [end, ADVICE[problem.code](problem), next].filter(Boolean).join(' ')
}

function pointTo(expected: readonly string[]): string {
  return expected.length > 0 ? ` Point it to ${expected.join(' or ')}.` : ''
}

function listed(found: readonly string[], none: string): string {
  return found.length > 0 ? found.join(', ') : none
}
