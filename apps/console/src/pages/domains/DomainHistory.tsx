import type { Domain } from '@postern/contract/domains'
import { RecentHistory } from '../../components/history/RecentHistory.tsx'

/** What was changed at a domain and its services, below its row. */
export function DomainHistory({ domain: { domain } }: { domain: Domain }) {
  return (
    <section className="sub-svcs" aria-label={`History of ${domain}`}>
      <h2>History</h2>
      <RecentHistory name={domain} query={{ domain }} />
    </section>
  )
}
