import type { HttpService } from '@postern/contract/services'
import { Shield } from 'lucide-react'
import { StatusDot } from '../../ui/StatusDot.tsx'
import { Tooltip } from '../../ui/Tooltip.tsx'
import { restrictionText } from './service-text.ts'
import '../../styles/service.css'

export function ServiceName({ service }: { service: HttpService }) {
  const restriction = restrictionText(service)
  return (
    <span className="svc">
      <StatusDot status={service.enabled ? 'enabled' : 'disabled'} />
      <b>{service.name}</b>
      {restriction && (
        <Tooltip text={restriction} className="markic">
          <Shield className="ic" />
          <span className="sr">{restriction}</span>
        </Tooltip>
      )}
    </span>
  )
}
