import type { Domain } from '@postern/contract/domains'
import { Badge } from '../../ui/Badge.tsx'
import { Spinner } from '../../ui/Spinner.tsx'
import { formatDate } from '../../util/dates.ts'

/** Whose certificate a domain has and in what state it is; a failure says why. */
export function CertificateCell({ domain }: { domain: Domain }) {
  const { certificate } = domain
  return (
    <span className="cert">
      <span className="who">Self Signed</span>
      {certificate.status === 'valid' && <Badge kind="mute">Valid</Badge>}
      {certificate.status === 'failed' && <Badge kind="bad">Failed</Badge>}
      {certificate.status === 'pending' && (
        <Badge kind="wait">
          <Spinner />
          Pending
        </Badge>
      )}
      <span className={certificate.status === 'failed' ? 'sub bad' : 'sub'}>{detailText(domain)}</span>
    </span>
  )
}

function detailText({ certificate, skipValidation }: Domain): string {
  if (certificate.status === 'failed') return certificate.error ?? 'The reason is not known.'
  const until = certificate.notAfter ? `until ${formatDate(certificate.notAfter)}` : ''
  return [until, skipValidation ? 'validation skipped' : ''].filter(Boolean).join(', ')
}
