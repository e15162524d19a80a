import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { LIMITS } from '@postern/contract/limits'
import type { Node } from '@postern/contract/nodes'
import { type Service, type ServiceType, typeName } from '@postern/contract/services/services'
import { Plus } from 'lucide-react'
import { Suspense, useCallback, useId, useState } from 'react'
import { useRules } from '../../api/rules.ts'
import { ServiceDialog } from '../../forms/dialogs.ts'
import { CardSearch } from '../../table/CardSearch.tsx'
import { useAddressParams } from '../../table/list-params.ts'
import { NothingMatches } from '../../table/QueryTable.tsx'
import { useList } from '../../table/use-list.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { ServiceTable } from './ServiceTable.tsx'
import { PURPOSES } from './service-text.ts'

/** A node's services of one type, five at a time; the page's address holds the list's state. */
export function ServiceCard({ node, type }: { node: Node; type: ServiceType }) {
  const titleId = useId()
  const [form, setForm] = useState<{ service: Service | undefined } | null>(null)
  const services = useList({
    endpoint: endpoints.listNodeServices,
    state: useAddressParams(LIMITS.cardPageSize, type),
    input: { params: { nodeId: node.id, type } },
  })
  const edit = useCallback((service: Service) => setForm({ service }), [])
  const add = useRules().node.expose && (
    <Button size="sm" icon={Plus} onClick={() => setForm({ service: undefined })}>
      Add Service
    </Button>
  )
  return (
    <section className="card" aria-labelledby={titleId}>
      <header className="card-head">
        <h2 id={titleId}>{typeName(type)} Services</h2>
        <div className="acts">
          <CardSearch
            list={services}
            label={`Search ${typeName(type)} services`}
            placeholder="Search name or address"
          />
          {add}
        </div>
      </header>
      <ServiceTable
        type={type}
        list={services}
        onEdit={edit}
        empty={
          <EmptyState door="ajar" title={`No ${typeName(type)} services yet`} text={PURPOSES[type]}>
            {add}
          </EmptyState>
        }
        noMatch={
          <NothingMatches list={services} text={`No ${typeName(type)} services on this node match.`} />
        }
      />
      <Suspense>
        {form && (
          <ServiceDialog node={node} type={type} service={form.service} onClose={() => setForm(null)} />
        )}
      </Suspense>
    </section>
  )
}
