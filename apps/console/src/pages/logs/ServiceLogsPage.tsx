import { endpoints } from '@postern/contract/endpoints'
import { type Service, ServiceType } from '@postern/contract/services'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { useApi } from '../../api/context.ts'
import { apiQuery } from '../../api/queries.ts'
import { NotFoundPage, RecordError } from '../../components/ErrorPages.tsx'
import { LogSkeleton, LogView } from '../../components/log-view/LogView.tsx'
import { Page } from '../../components/Page.tsx'
import { PublicAccess } from '../../components/service-card/ServiceFacts.tsx'
import { typeName } from '../../components/service-card/service-text.ts'
import { urls } from '../../util/urls.ts'

/** What visitors ask of one service, live. */
export function ServiceLogsPage() {
  const params = useParams()
  const type = ServiceType.safeParse(params.type)
  if (!type.success) return <NotFoundPage />
  return <ServiceLogs nodeId={Number(params.nodeId)} type={type.data} id={Number(params.id)} />
}

function ServiceLogs({ nodeId, type, id }: Pick<Service, 'nodeId' | 'type' | 'id'>) {
  const api = useApi()
  const query = useQuery(apiQuery(api, endpoints.getService, { params: { nodeId, type, id } }))
  const service = query.data
  return (
    <Page
      title={service ? `Logs of ${service.name}` : 'Logs'}
      className="fill"
      crumbs={[
        { text: 'Nodes', to: urls.nodes() },
        { text: `${typeName(type)} Services`, to: urls.node(nodeId) },
        { text: 'Real Time Logs' },
      ]}
    >
      {query.isError ? (
        <div className="panel">
          <h1 className="sr">Real Time Logs</h1>
          <RecordError
            error={query.error}
            what="service"
            busy={query.isFetching}
            onRetry={() => query.refetch()}
            back={
              <Link className="btn" to={urls.node(nodeId)}>
                Go to node
              </Link>
            }
          />
        </div>
      ) : service ? (
        <LogView
          key={id}
          query={{ type, id }}
          subject={service.name}
          title={<ServiceTitle service={service} />}
        />
      ) : (
        <LogSkeleton />
      )}
    </Page>
  )
}

function ServiceTitle({ service }: { service: Service }) {
  const api = useApi()
  const node = useQuery(apiQuery(api, endpoints.getNode, { params: { id: service.nodeId } })).data
  return (
    <div className="title">
      <h1>{service.name}</h1>
      <span className="sub">
        <PublicAccess service={service} />
      </span>
      {node && (
        <span className="sub">
          on <Link to={urls.node(node.id)}>{node.name}</Link>
        </span>
      )}
    </div>
  )
}
