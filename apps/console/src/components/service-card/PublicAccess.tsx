import type { HttpService } from '@postern/contract/services'

/** The address of a service: a link while it is enabled, plain text while not. */
export function PublicAccess({ service }: { service: Pick<HttpService, 'publicAccess' | 'enabled'> }) {
  if (!service.publicAccess) return <span className="none">Not assigned</span>
  if (!service.enabled) return <span className="mono">{service.publicAccess}</span>
  return (
    <a className="mono" href={service.publicAccess} target="_blank" rel="noreferrer">
      {service.publicAccess}
    </a>
  )
}
