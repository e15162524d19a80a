import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { type Service, ServiceType, typeName } from '@postern/contract/services/services'
import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import { ApiError } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { keyOf, useAnswer } from '../../api/queries.ts'
import { NotFoundPage, RecordError } from '../../components/ErrorPages.tsx'
import { LogSkeleton, LogView } from '../../components/log-view/LogView.tsx'
import { Page } from '../../components/Page.tsx'
import { ServiceTitle } from '../../components/service-card/ServiceTitle.tsx'
import { domainRowUrl, urls } from '../../util/urls.ts'

/** The requests to all services of a domain, live. */
export function DomainLogsPage() {
  const { domain = '' } = useParams()
  const query = useDomain(domain)
  return (
    <Page
      title={`Logs of ${domain}`}
      className="fill"
      crumbs={[
        { text: 'Domains', to: urls.domains() },
        { text: domain, mono: true, to: domainRowUrl(domain) },
        { text: 'Real Time Logs' },
      ]}
    >
      {query.isError ? (
        <>
          <h1 className="sr">{domain}</h1>
          <RecordError query={query} what="domain" back={{ text: 'Domains', to: urls.domains() }} />
        </>
      ) : (
        <LogView
          key={domain}
          query={{ domain }}
          subject={domain}
          title={
            <div className="title">
              <h1 className="mono">{domain}</h1>
            </div>
          }
        />
      )}
    </Page>
  )
}

/** The domain of that name; a missing one is an error like for any other record. */
function useDomain(domain: string) {
  const api = useApi()
  const input = { query: { search: domain } }
  return useQuery({
    queryKey: [...keyOf(endpoints.listDomains, input), 'one'],
    queryFn: async ({ signal }) => {
      const domains = await api.listAll(endpoints.listDomains, { ...input, signal })
      const found = domains.find((each) => each.domain === domain)
      if (!found) throw new ApiError('Domain not found', { status: 404 })
      return found
    },
  })
}

/** The requests to one service, live. */
export function ServiceLogsPage() {
  const params = useParams()
  const type = ServiceType.safeParse(params.type)
  if (!type.success) return <NotFoundPage />
  return <ServiceLogs nodeId={Number(params.nodeId)} type={type.data} id={Number(params.id)} />
}

function ServiceLogs({ nodeId, type, id }: Pick<Service, 'nodeId' | 'type' | 'id'>) {
  const query = useAnswer(endpoints.getService, { params: { nodeId, type, id } })
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
        <>
          <h1 className="sr">Real Time Logs</h1>
          <RecordError query={query} what="service" back={{ text: 'Go to node', to: urls.node(nodeId) }} />
        </>
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
