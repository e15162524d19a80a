import { endpoints } from '@postern/contract/console-endpoints'
import type { Found } from '@postern/contract/find'
import type { CreatedNode, Node } from '@postern/contract/nodes'
import type { Service, ServiceType } from '@postern/contract/services'
import { Suspense, useState } from 'react'
import { useNavigate } from 'react-router'
import { useApi } from '../../api/context.ts'
import { DomainDialog, NodeDialog, ServiceDialog } from '../../forms/dialogs.ts'
import { urls } from '../../util/urls.ts'
import { attempt } from '../ask.ts'
import { useServiceActions } from '../service-card/service-actions.tsx'
import type { ServiceVerb } from './entries.ts'
import { Palette } from './Palette.tsx'
import { ShortcutsDialog } from './ShortcutsDialog.tsx'

export type Opened = 'palette' | 'shortcuts' | null
type Form = 'node' | 'domain' | { type: ServiceType; node: Node; service?: Service } | null

interface Props {
  opened: Opened
  onOpen: (what: Opened) => void
}

/** The palette, the list of keys, and the forms that the palette opens above any page. */
export function PaletteLayer({ opened, onOpen }: Props) {
  const api = useApi()
  const navigate = useNavigate()
  const [form, setForm] = useState<Form>(null)
  const close = () => setForm(null)
  const expose = (type: ServiceType, id: number) =>
    void attempt(async () => setForm({ type, node: await api.call(endpoints.getNode, { params: { id } }) }))
  const actions = useServiceActions()
  const act = (verb: ServiceVerb, { id, nodeId, type }: Found['services'][number]) =>
    void attempt(async () => {
      const service = await api.call(endpoints.getService, { params: { nodeId, type, id } })
      if (verb === 'enable') return void actions.enable(service)
      if (verb === 'disable') return void actions.disable(service)
      setForm({ type, service, node: await api.call(endpoints.getNode, { params: { id: nodeId } }) })
    })
  const goToNode = (created?: CreatedNode) => {
    close()
    if (created) void navigate(urls.node(created.id))
  }
  return (
    <>
      {opened === 'palette' && (
        <Palette
          onClose={() => onOpen(null)}
          doors={{
            addNode: () => setForm('node'),
            addDomain: () => setForm('domain'),
            expose,
            service: act,
            shortcuts: () => onOpen('shortcuts'),
          }}
        />
      )}
      {opened === 'shortcuts' && <ShortcutsDialog onClose={() => onOpen(null)} />}
      <Suspense>
        {form === 'node' && <NodeDialog onClose={goToNode} />}
        {form === 'domain' && <DomainDialog domain={undefined} onClose={close} />}
        {form !== null && typeof form === 'object' && <ServiceDialog {...form} onClose={close} />}
      </Suspense>
    </>
  )
}
