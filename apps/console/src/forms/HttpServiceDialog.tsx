import type { Node } from '@postern/contract/nodes'
import type { HttpService } from '@postern/contract/services'
import { useState } from 'react'
import { ServiceInfoDialog } from '../components/service-info/ServiceInfoDialog.tsx'
import { HttpServiceForm } from './HttpServiceForm.tsx'

interface Props {
  node: Node
  /** The service to edit; without one a new service is made. */
  service?: HttpService | undefined
  /** Gets the service when it was saved. */
  onClose: (saved?: HttpService) => void
}

/** The HTTP service form, and after saving the dialog that says where the service is reached. */
export function HttpServiceDialog({ node, service, onClose }: Props) {
  const [saved, setSaved] = useState<HttpService>()
  if (saved) return <ServiceInfoDialog service={saved} onClose={() => onClose(saved)} />
  return <HttpServiceForm node={node} service={service} onClose={() => onClose()} onSaved={setSaved} />
}
