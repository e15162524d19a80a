import type { Domain } from '@postern/contract/domains'
import { LazyChart } from '../../components/chart/LazyChart.tsx'

/** What a domain's services carried, below its row. */
export function DomainTraffic({ domain: { id, domain } }: { domain: Domain }) {
  return (
    <section className="sub-svcs" aria-label={`Traffic of ${domain}`}>
      <h2>Traffic</h2>
      <div className="sub-chart">
        <LazyChart of={{ kind: 'domain', id, domain }} name={domain} />
      </div>
    </section>
  )
}
