import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import { type HttpServiceForm, RESERVED_PATHS } from '@postern/contract/services'
import { contains, containsIp, findCidr, parseCidr } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import { isSpecial } from '@postern/net/special'
import type { NodeRow } from '../db/schema.ts'
import { subnetsOf } from './desired-sections.ts'
import { isOwnSocket, type OwnSockets } from './own-sockets.ts'

export type ServiceNode = Pick<NodeRow, 'id' | 'name' | 'is_local' | 'is_gateway' | 'gateway_networks'>

/** What of a form depends on more than the form. */
export interface Surroundings {
  node: ServiceNode
  own: OwnSockets
  /** The domain of the console; null while it has none. */
  consoleDomain: string | null
}

/** All that is wrong with an ordinary service, beyond what the contract's schema says. */
export function findServiceProblems(form: HttpServiceForm, around: Surroundings): FieldError[] {
  const host = findHostProblem(form, around)
  const path = findPathProblem(form, around.consoleDomain)
  return [
    ...(host === undefined ? [] : [{ field: 'backendHost', message: host }]),
    ...(path === undefined ? [] : [{ field: 'pathLocation', message: path }]),
  ]
}

/** The path under which visitors find the service: with a domain of its own, the root unless said otherwise. */
export function pathOf(form: Pick<HttpServiceForm, 'domain' | 'pathLocation'>): string {
  return form.pathLocation ?? '/'
}

function findHostProblem(form: HttpServiceForm, { node, own }: Surroundings): string | undefined {
  const { backendHost: host, backendPort: port } = form
  if (!node.is_local && !node.is_gateway) return host === null ? undefined : MESSAGES.backendHostRefused
  if (host === null) return MESSAGES.required
  if (node.is_local) return findLocalProblem(host, port, own)
  const ip = findIp(host)
  const subnets = subnetsOf(node)
  const isInside = !ip || subnets.some((subnet) => containsIp(parseCidr(subnet), ip))
  return isInside ? undefined : `must be inside the networks of ${node.name}: ${subnets.join(', ')}`
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(parseCidr)

/** The edge would refuse the same. */
function findLocalProblem(host: string, port: number, own: OwnSockets): string | undefined {
  if (isOwnSocket(own, host, port)) return 'This address and port belong to Postern itself'
  const address = findCidr(host)
  if (!address || LOOPBACK.some((network) => contains(network, address))) return undefined
  if (contains(parseCidr(own.tunnel4), address))
    return 'lies in the tunnel: publish it on the node it belongs to'
  return isSpecial(address) ? 'must not be a link-local, multicast or reserved address' : undefined
}

/** Where the console answers, its paths and those of the API are not to be had. */
function findPathProblem(form: HttpServiceForm, consoleDomain: string | null): string | undefined {
  const path = pathOf(form)
  if (form.domain !== null && form.domain !== consoleDomain) return undefined
  if (form.domain === null && form.pathLocation === null) return MESSAGES.required
  return isReservedPath(path) ? `${path} belongs to the console: choose another path` : undefined
}

export function isReservedPath(path: string): boolean {
  const first = path.split('/')[1]?.toLowerCase() ?? ''
  return first === '' || RESERVED_PATHS.includes(first)
}

const LOCKED = ['name', 'pathLocation', 'backendProto', 'backendHost', 'backendPort'] as const

/** Of the console's own service only the domain and the IP lists can be changed. */
export function findLockedChanges(before: HttpServiceForm, after: HttpServiceForm): FieldError[] {
  return LOCKED.filter((field) => before[field] !== after[field]).map((field) => ({
    field,
    message: 'cannot be changed for the console',
  }))
}
