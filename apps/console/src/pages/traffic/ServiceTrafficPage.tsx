import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { type Service, ServiceType, typeName } from '@postern/contract/services/services'
import { useParams, useSearchParams } from 'react-router'
import { useAnswer } from '../../api/queries.ts'
import { ChartCard } from '../../components/chart/ChartCard.tsx'
import { NotFoundPage, RecordError } from '../../components/ErrorPages.tsx'
import { Page } from '../../components/Page.tsx'
import { ServiceTitle } from '../../components/service-card/ServiceTitle.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { urls } from '../../util/urls.ts'

/** What a service carried and how it answered, at a moment if the address has one (`?at=`). */
export function ServiceTrafficPage() {
  const params = useParams()
  const type = ServiceType.safeParse(params.type)
  if (!type.success) return <NotFoundPage />
  return <ServiceTraffic nodeId={Number(params.nodeId)} type={type.data} id={Number(params.id)} />
}

function ServiceTraffic({ nodeId, type, id }: Pick<Service, 'nodeId' | 'type' | 'id'>) {
  const query = useAnswer(endpoints.getService, { params: { nodeId, type, id } })
  const given = Date.parse(useSearchParams()[0].get('at') ?? '')
  const at = Number.isNaN(given) ? undefined : given
  const service = query.data
  return (
    <Page
      title={service ? `Traffic of ${service.name}` : 'Traffic'}
      crumbs={[
        { text: 'Nodes', to: urls.nodes() },
        { text: `${typeName(type)} Services`, to: urls.node(nodeId) },
        { text: 'Traffic' },
      ]}
    >
      {query.isError ? (
        <>
          <h1 className="sr">Traffic</h1>
          <RecordError query={query} what="service" back={{ text: 'Go to node', to: urls.node(nodeId) }} />
        </>
      ) : (
        <>
          <header className="head">
            {service ? <ServiceTitle service={service} /> : <Skeleton width={20} />}
          </header>
          {service && (
            <ChartCard key={`${id} ${at}`} of={{ kind: 'service', type, id }} name={service.name} at={at} />
          )}
        </>
      )}
    </Page>
  )
}
