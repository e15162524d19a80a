import type { HttpService } from '@postern/contract/services'
import { Link, useNavigate } from 'react-router'
import { PublicAccess } from '../../components/service-card/PublicAccess.tsx'
import { ServiceName } from '../../components/service-card/ServiceName.tsx'
import { ServicePhase, ServiceProblem } from '../../components/service-card/ServiceState.tsx'
import { serviceMenu } from '../../components/service-card/service-menu.ts'
import { proxyText } from '../../components/service-card/service-text.ts'
import { useServiceActions } from '../../components/service-card/use-service-actions.ts'
import { Menu } from '../../ui/Menu.tsx'
import { urls } from '../../util/urls.ts'

interface Props {
  service: HttpService
  /** Undefined until the nodes are known. */
  nodeName: string | undefined
  onInfo: () => void
}

export function DomainServiceRow({ service, nodeName, onInfo }: Props) {
  const navigate = useNavigate()
  const actions = useServiceActions()
  return (
    <li>
      <ServiceName service={service} />
      <span className="address">
        <PublicAccess service={service} />
      </span>
      <span className="to mono">{proxyText(service)}</span>
      <span className="by">
        {nodeName && (
          <>
            on <Link to={urls.node(service.nodeId)}>{nodeName}</Link>
          </>
        )}
      </span>
      <div className="state">
        <ServicePhase service={service} />
      </div>
      <Menu
        label={`Actions for ${service.name}`}
        groups={serviceMenu(service, {
          info: onInfo,
          logs: () => navigate(urls.serviceLogs(service.nodeId, 'http', service.id)),
          goToNode: () => navigate(urls.node(service.nodeId)),
          enable: () => actions.enable(service),
          disable: () => actions.disable(service),
          remove: () => actions.remove(service),
        })}
      />
      <ServiceProblem service={service} />
    </li>
  )
}
