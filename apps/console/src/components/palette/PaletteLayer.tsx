import { endpoints } from '@postern/contract/console-endpoints'
import type { CreatedNode, Node } from '@postern/contract/nodes'
import type { ServiceType } from '@postern/contract/services'
import { Suspense, useState } from 'react'
import { useNavigate } from 'react-router'
import { useApi } from '../../api/context.ts'
import { DomainDialog, NodeDialog, ServiceDialog } from '../../forms/dialogs.ts'
import { urls } from '../../util/urls.ts'
import { attempt } from '../ask.ts'
import { Palette } from './Palette.tsx'
import { ShortcutsDialog } from './ShortcutsDialog.tsx'

export type Opened = 'palette' | 'shortcuts' | null
type Form = 'node' | 'domain' | { type: ServiceType; node: Node } | null

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
