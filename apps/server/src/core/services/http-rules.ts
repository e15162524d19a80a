import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import { isReservedPath } from '@postern/contract/reserved-paths'
import type { HttpServiceForm } from '@postern/contract/services'
import { findCidrs } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import {
  findGatewayFault,
  findLocalFault,
  findLocalhost,
  type Surroundings,
  TARGET_FAULTS,
  type TargetFault,
} from '@postern/net/targets'
import type { NodeRow } from '../../db/schema.ts'
import { subnetsOf } from '../desired-state/records.ts'

export type ServiceNode = Pick<NodeRow, 'id' | 'name' | 'is_local' | 'is_gateway' | 'gateway_networks'>

/** What of a form depends on more than the form. */
export interface ServiceSurroundings extends Surroundings {
  node: ServiceNode
  publicHost: string
  /** The domain at which the console answers besides the public host. */
  consoleDomain: string | undefined
}

const ITSELF: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

/** The form as it is kept: on a plain node its own names mean the node itself, as no host does. */
export function withoutOwnName(form: HttpServiceForm, node: ServiceNode): HttpServiceForm {
  return isPlain(node) && ITSELF.has(form.backendHost ?? '') ? { ...form, backendHost: null } : form
}

function isPlain({ is_local, is_gateway }: ServiceNode): boolean {
  return is_local === 0 && is_gateway === 0
}

/** All that is wrong with an ordinary service, beyond what the contract's schema says. */
export function findServiceProblems(form: HttpServiceForm, around: ServiceSurroundings): FieldError[] {
  const host = findHostProblem(form, around)
  const path = findPathProblem(form, [around.publicHost, around.consoleDomain])
  return [
    ...(host === undefined ? [] : [{ field: 'backendHost', message: host }]),
    ...(path === undefined ? [] : [{ field: 'pathLocation', message: path }]),
  ]
}

/** The path under which visitors find the service: with a domain of its own, the root unless said otherwise. */
export function pathOf(form: Pick<HttpServiceForm, 'domain' | 'pathLocation'>): string {
  return form.pathLocation ?? '/'
}

function findHostProblem(form: HttpServiceForm, around: ServiceSurroundings): string | undefined {
  const { backendHost: host, backendPort: port } = form
  const { node } = around
  if (isPlain(node)) return host === null || ITSELF.has(host) ? undefined : MESSAGES.backendHostRefused
  if (host === null) return MESSAGES.required
  const ip = findIp(host) ?? findLocalhost(host)
  if (node.is_local) {
    const fault = ip ? findLocalFault(ip, port, around) : findNameFault(host, port, around)
    return fault && TARGET_FAULTS[fault]
  }
  const subnets = subnetsOf(node)
  // What a name leads to is judged by the edge, which looks it up.
  const fault = ip && findGatewayFault(ip, findCidrs(subnets), around)
  if (fault === 'outside') return `must be inside the networks of ${node.name}: ${subnets.join(', ')}`
  return fault && TARGET_FAULTS[fault]
}

/** Our own name may lead to an address that this machine does not know as its own. */
function findNameFault(name: string, port: number, around: ServiceSurroundings): TargetFault | undefined {
  return name === around.publicHost && around.ownPorts.includes(port) ? 'ownPort' : undefined
}

/** Where the console answers, its paths and those of the API are not to be had. */
function findPathProblem(
  form: HttpServiceForm,
  consoleNames: readonly (string | undefined)[],
): string | undefined {
  const path = pathOf(form)
  if (form.domain !== null && !consoleNames.includes(form.domain)) return undefined
  if (form.domain === null && form.pathLocation === null) return MESSAGES.required
  return isReservedPath(path) ? `${path} belongs to the console: choose another path` : undefined
}

const LOCKED = ['name', 'pathLocation', 'backendProto', 'backendHost', 'backendPort'] as const

/** Of the console's own service only the domain and the IP lists can be changed. */
export function findLockedChanges(before: HttpServiceForm, after: HttpServiceForm): FieldError[] {
  return LOCKED.filter((field) => before[field] !== after[field]).map((field) => ({
    field,
    message: 'cannot be changed for the console',
  }))
}
