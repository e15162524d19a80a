import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { ServiceType, typeName } from '@postern/contract/services/services'
import { useParams } from 'react-router'
import { useAnswer } from '../../api/queries.ts'
import { NotFoundPage, RecordError } from '../../components/ErrorPages.tsx'
import { HistoryList } from '../../components/history/HistoryList.tsx'
import { Page } from '../../components/Page.tsx'
import { ServiceTitle } from '../../components/service-card/ServiceTitle.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { urls } from '../../util/urls.ts'

/** What was changed of a service. */
export function ServiceHistoryPage() {
  const params = useParams()
  const type = ServiceType.safeParse(params.type)
  if (!type.success) return <NotFoundPage />
  return <ServiceHistory nodeId={Number(params.nodeId)} type={type.data} id={Number(params.id)} />
}

function ServiceHistory({ nodeId, type, id }: { nodeId: number; type: ServiceType; id: number }) {
  const query = useAnswer(endpoints.getService, { params: { nodeId, type, id } })
  const service = query.data
  const name = service?.name ?? 'this service'
  return (
    <Page
      title={service ? `History of ${service.name}` : 'History'}
      crumbs={[
        { text: 'Nodes', to: urls.nodes() },
        { text: `${typeName(type)} Services`, to: urls.node(nodeId) },
        { text: 'History' },
      ]}
    >
      {query.isError ? (
        <>
          <h1 className="sr">History</h1>
          <RecordError query={query} what="service" back={{ text: 'Go to node', to: urls.node(nodeId) }} />
        </>
      ) : (
        <>
          <header className="head">
            {service ? <ServiceTitle service={service} /> : <Skeleton width={20} />}
          </header>
          <HistoryList
            caption={`Changes of ${name}`}
            query={{ kind: 'service', id: String(id) }}
            empty={<EmptyState door="ajar" title="No change is kept" text="Its next change appears here." />}
          />
        </>
      )}
    </Page>
  )
}
