import type { Node } from '@postern/contract/nodes'
import type { Service, ServiceType } from '@postern/contract/services/services'
import { type ComponentType, useState } from 'react'
import { ServiceInfoDialog } from '../../components/service-card/ServiceInfoDialog.tsx'
import type { DraftValues } from '../../stores/draft.ts'
import { HttpServiceForm } from './HttpServiceForm.tsx'
import type { ServiceFormProps } from './ServiceForm.tsx'
import { TcpServiceForm } from './TcpServiceForm.tsx'

type Forms = { [T in ServiceType]: ComponentType<ServiceFormProps<Extract<Service, { type: T }>>> }
const FORMS: Forms = { http: HttpServiceForm, tcp: TcpServiceForm }

interface Props {
  node: Node
  type: ServiceType
  /** The service to edit, of that type; without one a new service is made. */
  service?: Service | undefined
  draft?: DraftValues
  /** Called with the service once it is saved. */
  onClose: (saved?: Service) => void
}

/** The form of a service and, after saving, the dialog with its public address. */
export function ServiceDialog({ node, type, service, draft, onClose }: Props) {
  const [saved, setSaved] = useState<Service>()
  if (saved) return <ServiceInfoDialog service={saved} onClose={() => onClose(saved)} />
  // The service is of the type whose form this is.
  const Form = FORMS[type] as ComponentType<ServiceFormProps<Service>>
  return <Form node={node} service={service} draft={draft} onClose={() => onClose()} onSaved={setSaved} />
}
