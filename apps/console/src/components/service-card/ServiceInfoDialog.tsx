import { titleOfSource } from '@postern/contract/publishing'
import type { Service } from '@postern/contract/services'
import { LockKeyhole } from 'lucide-react'
import { Badge } from '../../ui/Badge.tsx'
import { InfoDialog } from '../../ui/Dialog.tsx'
import { PublicAccess } from './ServiceFacts.tsx'
import { backendText, ipListText } from './service-text.ts'
import './ServiceInfoDialog.css'

interface Props {
  service: Service
  onClose: () => void
}

/** Where a service is reached and where it leads. */
export function ServiceInfoDialog({ service, onClose }: Props) {
  return (
    <InfoDialog
      title="Your Service is Now Publicly Available"
      description={
        isNodeAway(service) && `${service.name} is saved. It goes live when ${service.nodeName} connects.`
      }
      onClose={onClose}
    >
      <dl className="info-list">
        <div>
          <dt>Service Name</dt>
          <dd>
            <b>{service.name}</b>
          </dd>
        </div>
        <div>
          <dt>Public Access</dt>
          <dd className="access">
            {service.ssl && service.publicAccess && (
              <Badge kind="ok">
                <LockKeyhole className="ic" />
                SSL
              </Badge>
            )}
            <PublicAccess service={service} />
          </dd>
        </div>
        <div>
          <dt>Backend</dt>
          <dd className="mono">{backendText(service)}</dd>
        </div>
        {service.source && (
          <div>
            <dt>Published by</dt>
            <dd>
              {titleOfSource(service.source)} on <bdi>{service.nodeName}</bdi>
            </dd>
          </div>
        )}
        <div>
          <dt>Allowed IPs</dt>
          <dd className={service.allowedIps.length > 0 ? 'mono' : undefined}>
            {ipListText(service.allowedIps, 'No restrictions')}
          </dd>
        </div>
        <div>
          <dt>Blocked IPs</dt>
          <dd className={service.blockedIps.length > 0 ? 'mono' : undefined}>
            {ipListText(service.blockedIps, 'None')}
          </dd>
        </div>
      </dl>
    </InfoDialog>
  )
}

function isNodeAway({ state }: Service): boolean {
  return state.phase === 'node-offline' || state.phase === 'node-disconnected'
}
