import type { Domain } from '@postern/contract/domains'
import type { Edge } from '@postern/contract/edge/edge'
import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { CreatedNode, Node } from '@postern/contract/nodes'
import type { CreatedPat } from '@postern/contract/pats'
import type { Service, ServiceType } from '@postern/contract/services/services'
import { lazy, Suspense, useState } from 'react'
import { useNavigate } from 'react-router'
import { useApi } from '../../api/context.ts'
import { DomainDialog, EdgeDialog, NodeDialog, ServiceDialog } from '../../forms/dialogs.ts'
import { urls } from '../../util/urls.ts'
import { attempt } from '../ask.ts'
import { Palette } from './Palette.tsx'
import { ShortcutsDialog } from './ShortcutsDialog.tsx'
import { useRotation } from './use-rotation.ts'

const TokenInfoDialog = lazy(async () => ({
  default: (await import('../tokens/TokenInfoDialog.tsx')).TokenInfoDialog,
}))

export type Opened = 'palette' | 'shortcuts' | null
type Form =
  | { node: Node | undefined }
  | { domain: Domain | undefined }
  | { edge: Edge | undefined }
  | { type: ServiceType; of: Node; service?: Service }
  | { token: CreatedPat }
  | null

interface Props {
  opened: Opened
  onOpen: (what: Opened) => void
}

/** The palette, the list of keys, and the dialogs that the palette opens above any page. */
export function PaletteLayer({ opened, onOpen }: Props) {
  const api = useApi()
  const navigate = useNavigate()
  const [form, setForm] = useState<Form>(null)
  const close = () => setForm(null)
  const rotateToken = useRotation((token) => setForm({ token }))
  const editService = (service: Service) =>
    void attempt(async () => {
      const of = await api.call(endpoints.getNode, { params: { id: service.nodeId } })
      setForm({ type: service.type, of, service })
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
            addNode: () => setForm({ node: undefined }),
            addDomain: () => setForm({ domain: undefined }),
            addEdge: () => setForm({ edge: undefined }),
            editEdge: (edge) => setForm({ edge }),
            expose: (type, of) => setForm({ type, of }),
            editService,
            editNode: (node) => setForm({ node }),
            editDomain: (domain) => setForm({ domain }),
            rotateToken,
            shortcuts: () => onOpen('shortcuts'),
          }}
        />
      )}
      {opened === 'shortcuts' && <ShortcutsDialog onClose={() => onOpen(null)} />}
      <Suspense>
        {form && 'node' in form && <NodeDialog node={form.node} onClose={goToNode} />}
        {form && 'domain' in form && <DomainDialog domain={form.domain} onClose={close} />}
        {form && 'edge' in form && <EdgeDialog edge={form.edge} onClose={close} />}
        {form && 'of' in form && (
          <ServiceDialog node={form.of} type={form.type} service={form.service} onClose={close} />
        )}
        {form && 'token' in form && <TokenInfoDialog token={form.token} onClose={close} />}
      </Suspense>
    </>
  )
}
