import { MESSAGES } from '@postern/contract/messages'
import type { HttpServiceForm, TcpServiceForm } from '@postern/contract/services/services'
import { findCidrs } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import {
  findGatewayFault,
  findLocalFault,
  findLocalhost,
  TARGET_FAULTS,
  type TargetFault,
} from '@postern/net/targets'
import type { NodeRow } from '../../db/schema.ts'
import { subnetsOf } from '../desired-state/records.ts'
import type { ServiceSurroundings } from './surroundings.ts'

/** The fields of a node that the rules of its services need. */
export type ServiceNode = Pick<NodeRow, 'id' | 'name' | 'is_local' | 'is_gateway' | 'gateway_networks'>

/** The backend fields of the forms of all types. */
export type ServiceForm = Pick<HttpServiceForm, keyof HttpServiceForm & keyof TcpServiceForm>

const ITSELF: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

/** The host as it is stored: on a plain node, names for the node itself are stored as no host. */
export function keptHost({ backendHost: host }: Pick<ServiceForm, 'backendHost'>, node: ServiceNode) {
  return isPlain(node) && ITSELF.has(host ?? '') ? null : host
}

function isPlain({ is_local, is_gateway }: ServiceNode): boolean {
  return is_local === 0 && is_gateway === 0
}

/** Why a service of this node may not lead there, in words. A port that cannot be parsed is no reason. */
export function findHostProblem(
  { backendHost: host, backendPort: port = 0 }: Partial<ServiceForm>,
  node: ServiceNode,
  around: ServiceSurroundings,
): string | undefined {
  if (host === undefined) return undefined
  if (isPlain(node)) return host === null || ITSELF.has(host) ? undefined : MESSAGES.backendHostRefused
  if (host === null) return MESSAGES.required
  const ip = findIp(host) ?? findLocalhost(host)
  if (node.is_local) {
    const fault = ip ? findLocalFault(ip, port, around) : findNameFault(host, port, around)
    return fault && TARGET_FAULTS[fault]
  }
  const subnets = subnetsOf(node)
  // The edge checks where a name leads, because it looks it up.
  const fault = ip && findGatewayFault(ip, findCidrs(subnets), around)
  if (fault === 'outside') {
    const itself = ITSELF.has(host) ? `. For a program on ${node.name} itself, use its address there` : ''
    return `must be inside the networks of ${node.name}: ${subnets.join(', ')}${itself}`
  }
  return fault && TARGET_FAULTS[fault]
}

/** Our own name may resolve to an address that this machine does not know as its own. */
function findNameFault(name: string, port: number, around: ServiceSurroundings): TargetFault | undefined {
  return around.ownHosts.includes(name) && around.ownPorts.includes(port) ? 'ownPort' : undefined
}
