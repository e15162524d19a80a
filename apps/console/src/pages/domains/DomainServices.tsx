import { endpoints } from '@postern/contract/endpoints'
import type { HttpService } from '@postern/contract/services'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'
import { wordsForError } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { keyOf } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { urls } from '../../util/urls.ts'
import { DomainServiceRow } from './DomainServiceRow.tsx'
import { useDomainServices } from './use-domain-services.ts'

const ServiceInfoDialog = lazy(async () => ({
  default: (await import('../../components/service-info/ServiceInfoDialog.tsx')).ServiceInfoDialog,
}))

/** The HTTP services of a domain, below its row. */
export function DomainServices({ domain }: { domain: string }) {
  const [info, setInfo] = useState<HttpService | null>(null)
  const services = useDomainServices(domain)
  const nodeNames = useNodeNames()
  const rows = services.data?.data
  return (
    <section className="sub-svcs" aria-label={`HTTP Services of ${domain}`} aria-busy={services.isPending}>
      <h2>HTTP Services</h2>
      {services.isError && !rows && (
        <p className="none" role="alert">
          The services could not be loaded. {wordsForError(services.error)}{' '}
          <Button size="sm" busy={services.isFetching} onClick={() => services.refetch()}>
            Retry
          </Button>
        </p>
      )}
      {services.isPending && (
        <p className="none">
          <Skeleton width={40} />
        </p>
      )}
      {rows?.length === 0 && (
        <p className="none">
          No HTTP services yet. Expose the first one from <Link to={urls.nodes()}>Client / Nodes</Link>.
        </p>
      )}
      {rows && rows.length > 0 && (
        <ul>
          {rows.map((service) => (
            <DomainServiceRow
              key={service.id}
              service={service}
              nodeName={nodeNames.get(service.nodeId)}
              onInfo={() => setInfo(service)}
            />
          ))}
        </ul>
      )}
      <Suspense>{info && <ServiceInfoDialog service={info} onClose={() => setInfo(null)} />}</Suspense>
    </section>
  )
}

function useNodeNames(): ReadonlyMap<number, string> {
  const api = useApi()
  const { data } = useQuery({
    queryKey: keyOf(endpoints.listNodes, {}),
    queryFn: ({ signal }) => api.listAll(endpoints.listNodes, { signal }),
  })
  return new Map(data?.map(({ id, name }) => [id, name]))
}
