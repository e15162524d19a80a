import type { Config } from '@postern/contract/config'
import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { titleOfSource } from '@postern/contract/services/publishing'
import type { Service } from '@postern/contract/services/services'
import { LockKeyhole } from 'lucide-react'
import { Link } from 'react-router'
import { useAnswer, useConfig } from '../../api/queries.ts'
import { Badge } from '../../ui/feedback/Badge.tsx'
import { InfoDialog } from '../../ui/overlay/Dialog.tsx'
import { formatMoment } from '../../util/time.ts'
import { serverUrls, urls } from '../../util/urls.ts'
import { PublicAccess } from './ServiceFacts.tsx'
import { backendText, ipListText } from './service-text.ts'
import './ServiceInfoDialog.css'

interface Props {
  service: Service
  onClose: () => void
}

/** A service's public address, its backend, and whether it is live yet. */
export function ServiceInfoDialog({ service: given, onClose }: Props) {
  const { nodeId, type, id } = given
  const service = useAnswer(endpoints.getService, { params: { nodeId, type, id } }).data ?? given
  const config = useConfig().data
  return (
    <InfoDialog
      title={isLive(service) ? 'Your Service is Now Publicly Available' : 'Saved'}
      description={[missingText(service), reachText(service, config)].filter(Boolean).join(' ')}
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
              <Badge kind={service.selfSigned ? 'mute' : 'ok'}>
                <LockKeyhole className="ic" />
                SSL
              </Badge>
            )}
            <PublicAccess service={service} />
            {service.selfSigned && service.publicAccess && <Warning type={service.type} />}
            {service.publicAccess && (
              <p className="hint">
                <Link to={urls.why(service.publicAccess)}>Why?</Link> follows a visitor there, step by step.
              </p>
            )}
          </dd>
        </div>
        <div>
          <dt>Backend</dt>
          <dd>
            <span className="mono">{backendText(service)}</span>
            {service.type === 'http' && service.stripPath && (
              <p className="hint">It gets the path without {service.pathLocation}.</p>
            )}
          </dd>
        </div>
        {service.source && (
          <div>
            <dt>Published by</dt>
            <dd>
              {titleOfSource(service.source)} on <bdi>{service.nodeName}</bdi>
            </dd>
          </div>
        )}
        {service.endsAt && (
          <div>
            <dt>Ends</dt>
            <dd>
              <time dateTime={service.endsAt}>{formatMoment(service.endsAt)}</time>
              <p className="hint">The service is deleted then.</p>
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

/** Browsers warn of a certificate from an unknown authority; other programs refuse it. */
function Warning({ type }: Pick<Service, 'type'>) {
  return (
    <p className="hint">
      Self-signed: {type === 'http' ? 'browsers warn' : 'programs refuse it'} until they{' '}
      <a href={serverUrls.trustRoot()} target="_blank" rel="noreferrer">
        trust this server's root
      </a>
      .
    </p>
  )
}

function isLive({ enabled, state }: Service): boolean {
  return enabled && state.phase === 'live'
}

/** The edge cannot see whether visitors reach this server. */
function reachText({ domain, dnsUnchecked }: Service, config: Config | undefined): string | undefined {
  if (config?.publicHostIsPrivate) return `Only this network reaches it: ${config.VPN_HOST} is private.`
  return dnsUnchecked && domain !== null
    ? `DNS was not checked: visitors reach it once ${domain} points to this server.`
    : undefined
}

/** What a saved service lacks to be live; for a live one, what else a person should know. */
function missingText({ name, nodeName, enabled, state }: Service): string | undefined {
  if (!enabled) return `${name} is disabled. Enable it to make it available.`
  switch (state.phase) {
    case 'live':
      return state.note && `${state.note}.`
    case 'checking':
      return `Checking whether ${name} answers.`
    case 'applying':
      return state.problem ? `${state.problem}.` : `${name} is being applied.`
    case 'node-offline':
    case 'node-disconnected':
      return `${name} is saved. It goes live when ${nodeName} connects.`
    case 'unanswered':
    case 'failed':
      return `${name} isn't available. ${state.problem ?? ''}`
  }
}
