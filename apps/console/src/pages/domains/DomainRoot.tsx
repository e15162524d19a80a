import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { Download } from 'lucide-react'
import { useAnswer } from '../../api/queries.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { formatDate } from '../../util/time.ts'
import { serverUrls } from '../../util/urls.ts'
import './DomainRoot.css'

/** Below a domain with a self-signed certificate: the root that makes browsers trust it. */
export function DomainRoot({ domain }: { domain: string }) {
  const root = useAnswer(endpoints.getRoot, {}).data
  if (!root) return null
  return (
    <section className="sub-root" aria-label={`Root certificate for ${domain}`}>
      <div>
        <h2>Root Certificate</h2>
        <p>
          Browsers warn until they trust {root.name}. It signs for the names of this installation only, until{' '}
          {formatDate(root.notAfter)}.{' '}
          <a href={serverUrls.trustRoot()} target="_blank" rel="noreferrer">
            How to trust it
          </a>
        </p>
        <p>
          SHA-256 <span className="mono">{root.fingerprint}</span>{' '}
          <CopyButton iconOnly size="sm" label="Copy fingerprint" value={root.fingerprint} />
        </p>
      </div>
      <a className="btn" href={serverUrls.root()} download>
        <Download className="ic" />
        Download
      </a>
    </section>
  )
}
