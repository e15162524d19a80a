import { endpoints } from '@postern/contract/endpoints'
import { LIMITS } from '@postern/contract/limits'
import type { Node } from '@postern/contract/nodes'
import type { HttpService } from '@postern/contract/services'
import { Plus } from 'lucide-react'
import { Suspense, useId, useState } from 'react'
import { HttpServiceDialog } from '../../forms/dialogs.ts'
import { useCardParams } from '../../table/list-params.ts'
import { useList } from '../../table/use-list.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ServiceTable } from './ServiceTable.tsx'

/** The HTTP services of a node, five at a time. */
export function ServiceCard({ node }: { node: Node }) {
  const titleId = useId()
  const [form, setForm] = useState<{ service: HttpService | undefined } | null>(null)
  const services = useList({
    endpoint: endpoints.listNodeServices,
    state: useCardParams(LIMITS.cardPageSize),
    input: { params: { nodeId: node.id, type: 'http' } },
  })
  const add = (
    <Button size="sm" icon={Plus} onClick={() => setForm({ service: undefined })}>
      Add Service
    </Button>
  )
  return (
    <section className="card" aria-labelledby={titleId}>
      <header className="card-head">
        <h2 id={titleId}>HTTP Services</h2>
        {add}
      </header>
      <ServiceTable
        list={services}
        onEdit={(service) => setForm({ service })}
        empty={
          <EmptyState
            door="ajar"
            title="No HTTP services yet"
            text="Publish a web service of this node under a domain or a path."
          >
            {add}
          </EmptyState>
        }
      />
      <Suspense>
        {form && <HttpServiceDialog node={node} service={form.service} onClose={() => setForm(null)} />}
      </Suspense>
    </section>
  )
}
