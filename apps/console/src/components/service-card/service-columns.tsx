import type { HttpService } from '@postern/contract/services'
import type { ReactNode } from 'react'
import type { Column } from '../../ui/Table.tsx'
import { PublicAccess } from './PublicAccess.tsx'
import { ServiceName } from './ServiceName.tsx'
import { ServiceState } from './ServiceState.tsx'
import { proxyText } from './service-text.ts'

/** The columns of a service card; `renderActions` is the menu of a row. */
export function serviceColumns(renderActions: (service: HttpService) => ReactNode): Column<HttpService>[] {
  return [
    {
      head: 'Name',
      width: 'w-20',
      className: 'c-name',
      render: (service) => <ServiceName service={service} />,
    },
    {
      head: 'Ingress Config',
      width: 'w-38',
      className: 'c-full',
      render: (service) => (
        <div className="route">
          <PublicAccess service={service} />
          <span className="to mono">{proxyText(service)}</span>
        </div>
      ),
    },
    { head: 'State', className: 'c-full', render: (service) => <ServiceState service={service} /> },
    { head: 'Actions', hiddenHead: true, width: 'w-act', className: 'c-act', render: renderActions },
  ]
}
