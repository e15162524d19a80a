import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { LIMITS } from '@postern/contract/limits'
import { type ServiceType, typeName } from '@postern/contract/services/services'
import { Link } from 'react-router'
import { ServiceTable } from '../../components/service-card/ServiceTable.tsx'
import { useCardParams } from '../../table/list-params.ts'
import { useList } from '../../table/use-list.ts'
import { urls } from '../../util/urls.ts'

/** A domain's services of one type, below its row. */
export function DomainServices({ domain, type }: { domain: string; type: ServiceType }) {
  const title = `${typeName(type)} Services`
  const services = useList({
    endpoint: endpoints.listServices,
    state: useCardParams(LIMITS.pageSize),
    input: { params: { type }, query: { domain } },
  })
  return (
    <section className="sub-svcs" aria-label={`${title} of ${domain}`}>
      <h2>{title}</h2>
      <ServiceTable
        type={type}
        list={services}
        empty={
          <p className="none">
            No {typeName(type)} services yet. Expose the first one from{' '}
            <Link to={urls.nodes()}>Client / Nodes</Link>.
          </p>
        }
      />
    </section>
  )
}
