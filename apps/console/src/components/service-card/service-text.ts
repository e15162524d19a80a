import { titleOfSource } from '@postern/contract/services/publishing'
import type { BackendProto, PortProto } from '@postern/contract/services/service-fields'
import type { Service, ServiceType } from '@postern/contract/services/services'

/** The purpose of each type of service. */
export const PURPOSES: Readonly<Record<ServiceType, string>> = {
  http: 'Publish a web service of this node under a domain or a path.',
  tcp: 'Publish any TCP or UDP program of this node on a public port.',
}

/** The place of the settings of a service that an agent publishes. */
const SETTINGS_AT: ReadonlyMap<string, string> = new Map([
  ['docker', 'the labels of its container'],
  ['file', "the agent's file"],
])

/** Why people cannot change a service that an agent publishes, and where it can be changed. */
export function fixedText(source: string, nodeName: string): string {
  const title = titleOfSource(source)
  const where = SETTINGS_AT.get(source) ?? title
  return `${title} on ${nodeName} publishes this service. Change it in ${where}; here you can disable and delete it.`
}

/** In the preview of a form, `…` stands for a missing port. */
type Target = Pick<Service, 'backendHost'> & { backendPort: number | '…' } & (
    | { backendProto: BackendProto }
    | { proto: PortProto }
  )

/** A service's backend, in the form of its row. */
export function proxyText(target: Target): string {
  const { backendHost, backendPort } = target
  return `Proxy -> ${backendHost ? `${bracketed(backendHost)}:${backendPort}` : backendText(target)}`
}

/** A service's backend, as an address. */
export function backendText(target: Target): string {
  const proto = 'proto' in target ? target.proto : target.backendProto
  return `${proto}://${bracketed(target.backendHost || 'localhost')}:${target.backendPort}`
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** A list of addresses in one line, or `none` when it is empty. */
export function ipListText(list: readonly string[] | null, none: string): string {
  return list && list.length > 0 ? list.join(', ') : none
}

/** Who may connect, for the icon beside the name; undefined when everyone may. */
export function restrictionText({
  allowedIps,
  blockedIps,
}: Pick<Service, 'allowedIps' | 'blockedIps'>): string | undefined {
  const allowed = allowedIps.length > 0 ? `Only ${brief(allowedIps)} may connect` : undefined
  const blocked = blockedIps.length > 0 ? `${brief(blockedIps)} may not connect` : undefined
  return [allowed, blocked].filter(Boolean).join('; ') || undefined
}

const SHOWN = 3

function brief(list: readonly string[]): string {
  const more = list.length - SHOWN
  return more > 0 ? `${list.slice(0, SHOWN).join(', ')} and ${more} more` : list.join(', ')
}
