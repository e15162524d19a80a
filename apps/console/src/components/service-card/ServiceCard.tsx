import type { Node } from '@postern/contract/nodes'
import type { HttpService } from '@postern/contract/services'
import { Plus } from 'lucide-react'
import { lazy, Suspense, useId, useState } from 'react'
import { HttpServiceDialog } from '../../forms/dialogs.ts'
import { Button } from '../../ui/Button.tsx'
import { ServiceRows } from './ServiceRows.tsx'
import { useNodeServices } from './use-node-services.ts'

const ServiceInfoDialog = lazy(async () => ({
  default: (await import('../service-info/ServiceInfoDialog.tsx')).ServiceInfoDialog,
}))

type Open = { form: HttpService | undefined } | { info: HttpService } | null

/** The HTTP services of a node, five at a time. */
export function ServiceCard({ node }: { node: Node }) {
  const titleId = useId()
  const [open, setOpen] = useState<Open>(null)
  const services = useNodeServices(node.id)
  const close = () => setOpen(null)
  const add = (
    <Button size="sm" icon={Plus} onClick={() => setOpen({ form: undefined })}>
      Add Service
    </Button>
  )
  return (
    <section className="card" aria-labelledby={titleId}>
      <header className="card-head">
        <h2 id={titleId}>HTTP Services</h2>
        {add}
      </header>
      <ServiceRows
        services={services}
        add={add}
        onInfo={(info) => setOpen({ info })}
        onEdit={(form) => setOpen({ form })}
      />
      <Suspense>
        {open && 'form' in open && <HttpServiceDialog node={node} service={open.form} onClose={close} />}
        {open && 'info' in open && <ServiceInfoDialog service={open.info} onClose={close} />}
      </Suspense>
    </section>
  )
}
