import { endpoints } from '@postern/contract/endpoints'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { ApiError } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { keyOf } from '../../api/queries.ts'
import { RecordError } from '../../components/ErrorPages.tsx'
import { LogView } from '../../components/log-view/LogView.tsx'
import { Page } from '../../components/Page.tsx'
import { urls } from '../../util/urls.ts'

/** The requests of all services of a domain, as they end. */
export function DomainLogsPage() {
  const { domain = '' } = useParams()
  const query = useDomain(domain)
  return (
    <Page
      title={`Logs of ${domain}`}
      className="fill"
      crumbs={[
        { text: 'Domains', to: urls.domains() },
        // The page of a domain is its row in the list.
        { text: domain, to: `${urls.domains()}?search=${encodeURIComponent(domain)}` },
        { text: 'Real Time Logs' },
      ]}
    >
      {query.isError ? (
        <div className="panel">
          <h1 className="sr">{domain}</h1>
          <RecordError
            error={query.error}
            what="domain"
            busy={query.isFetching}
            onRetry={() => query.refetch()}
            back={
              <Link className="btn" to={urls.domains()}>
                Domains
              </Link>
            }
          />
        </div>
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

/** The domain of that name; absent is an error like any other record's. */
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
