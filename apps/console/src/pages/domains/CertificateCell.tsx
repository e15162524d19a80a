import type { Domain } from '@postern/contract/domains'
import { Spinner } from '../../ui/Button.tsx'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { detailText, kindText, problemText, statusOf } from './certificate-text.ts'

/** The kind and state of a domain's certificate, and why it is missing or was not renewed. */
export function CertificateCell({ domain }: { domain: Domain }) {
  const { kind, text } = statusOf(domain)
  const problem = problemText(domain)
  const isBusy = domain.certificate.status !== 'valid' && domain.certificate.step !== null
  return (
    <>
      <span className="cert">
        <span className="issuer">{kindText(domain)}</span>
        <Badge kind={kind}>
          {isBusy && <Spinner />}
          {text}
        </Badge>
        <span className="sub">{detailText(domain)}</span>
      </span>
      {problem && (
        <p className={domain.certificate.status === 'failed' ? 'why bad' : 'why warn'}>{problem}</p>
      )}
    </>
  )
}
