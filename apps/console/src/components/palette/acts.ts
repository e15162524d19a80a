import type { Domain } from '@postern/contract/domains'
import type { Edge } from '@postern/contract/edge/edge'
import { edges as endpoints } from '@postern/contract/endpoints/edges'
import type { Node } from '@postern/contract/nodes'
import { type Service, ServiceType, typeName } from '@postern/contract/services/services'
import {
  Copy,
  Eye,
  History,
  KeyRound,
  type LucideIcon,
  Pencil,
  PlugZap,
  Plus,
  Power,
  ScrollText,
  Trash2,
  Unplug,
  Waypoints,
} from 'lucide-react'
import type { NavigateFunction } from 'react-router'
import type { Rules } from '../../api/rules.ts'
import { urls } from '../../util/urls.ts'
import type { useDomainActions } from '../domains/use-domain-actions.tsx'
import type { EdgeActions } from '../edges/use-edge-actions.tsx'
import type { useManyServices } from '../many/many-services.ts'
import { countText, NOUNS } from '../many/many-text.ts'
import type { ServiceVerbs } from '../service-card/service-actions.tsx'
import type { NodeActions } from '../use-node-actions.tsx'
import type { Reading, Verb } from './read-typed.ts'

/** Something to do with one thing that was found. */
export interface Act {
  icon: LucideIcon
  text: string
  /** What of the text is the name of it. */
  name: string
  run: () => void
}

/** The dialogs that the palette opens. */
export interface Doors {
  addNode: () => void
  addDomain: () => void
  addEdge: () => void
  editEdge: (edge: Edge) => void
  expose: (type: ServiceType, node: Node) => void
  editService: (service: Service) => void
  editNode: (node: Node) => void
  editDomain: (domain: Domain) => void
  rotateToken: (node: Node) => void
  shortcuts: () => void
}

/** What does it: the same as in the menus of rows. */
export interface Means {
  can: Rules
  doors: Doors
  navigate: NavigateFunction
  copy: (address: string) => void
  addressOf: (domain: string) => string
  verbsOf: (
    service: Service,
  ) => Pick<ServiceVerbs, 'logs' | 'why' | 'requests' | 'enable' | 'disable' | 'remove'>
  nodes: NodeActions
  edges: Pick<EdgeActions, 'drain' | 'undrain' | 'remove'>
  domains: ReturnType<typeof useDomainActions>
  many: ReturnType<typeof useManyServices>
}

/** What a verb does with a service; nothing where the person may not, or where it is so already. */
export function serviceActs(verb: Verb, service: Service, { can, doors, copy, verbsOf }: Means): Act[] {
  const { name, enabled, publicAccess } = service
  const verbs = verbsOf(service)
  const act = (icon: LucideIcon, text: string, run: () => void) => [{ icon, text, name, run }]
  if (verb === 'logs') return act(ScrollText, `Logs of ${name}`, verbs.logs)
  if (verb === 'requests') return act(History, `Requests of ${name}`, verbs.requests)
  if (verb === 'why' && verbs.why) return act(Waypoints, `Why is ${name} not reachable?`, verbs.why)
  if (verb === 'copy' && publicAccess !== null)
    return act(Copy, `Copy address of ${name}`, () => copy(publicAccess))
  if (verb === 'edit')
    return can.service.edit(service)
      ? act(Pencil, `Edit ${name}`, () => doors.editService(service))
      : act(Eye, `Show settings of ${name}`, () => doors.editService(service))
  if (verb === 'enable' && !enabled && can.service.enable(service))
    return act(Power, `Enable ${name}`, verbs.enable)
  if (verb === 'disable' && enabled && can.service.enable(service))
    return act(Power, `Disable ${name}`, verbs.disable)
  if (verb === 'delete' && can.service.remove(service)) return act(Trash2, `Delete ${name}`, verbs.remove)
  return []
}

/** As above. Its tunnel is what is enabled and disabled. */
export function nodeActs(verb: Verb, node: Node, means: Means): Act[] {
  const { can, doors, navigate, copy, nodes } = means
  const { id, name, enabled, address } = node
  const act = (icon: LucideIcon, text: string, run: () => void) => [{ icon, text, name, run }]
  if (verb === 'requests')
    return act(History, `Requests of ${name}`, () => navigate(urls.requests({ node: String(id) })))
  if (verb === 'copy') return act(Copy, `Copy address of ${name}`, () => copy(address))
  if (verb === 'edit' && can.node.edit(node)) return act(Pencil, `Edit ${name}`, () => doors.editNode(node))
  if (verb === 'enable' && !enabled && can.node.connect(node))
    return act(Power, `Connect ${name}`, () => void nodes.connect(node))
  if (verb === 'disable' && enabled && can.node.connect(node))
    return act(Unplug, `Disconnect ${name}`, () => void nodes.disconnect(node))
  if (verb === 'delete' && can.node.remove(node))
    return act(Trash2, `Delete ${name}`, () => void removeNode(node, means))
  if (verb === 'rotate' && can.node.addToken(node))
    return act(KeyRound, `Rotate token of ${name}`, () => doors.rotateToken(node))
  return []
}

/** Its own page goes with it. */
async function removeNode(node: Node, { nodes, navigate }: Means): Promise<void> {
  const isGone = await nodes.remove(node)
  if (isGone && location.pathname === urls.node(node.id)) await navigate(urls.nodes())
}

/** As above. */
export function edgeActs(verb: Verb, edge: Edge, { can, doors, edges }: Means): Act[] {
  const { name, isJoined, isDrained, number } = edge
  const act = (icon: LucideIcon, text: string, run: () => void) => [{ icon, text, name, run }]
  if (verb === 'edit' && can.may(endpoints.editEdge))
    return act(Pencil, `Edit ${name}`, () => doors.editEdge(edge))
  if (verb === 'drain' && isJoined && !isDrained && can.may(endpoints.drainEdge))
    return act(Unplug, `Drain ${name}`, () => void edges.drain(edge))
  if (verb === 'undrain' && isJoined && isDrained && can.may(endpoints.undrainEdge))
    return act(PlugZap, `Undrain ${name}`, () => void edges.undrain(edge))
  // The one beside the server stays.
  if (verb === 'delete' && number !== 1 && can.may(endpoints.removeEdge))
    return act(Trash2, `Remove ${name}`, () => void edges.remove(edge))
  return []
}

/** As above. */
export function domainActs(verb: Verb, record: Domain, means: Means): Act[] {
  const { can, doors, navigate, copy, addressOf, domains } = means
  const { domain } = record
  const act = (icon: LucideIcon, text: string, run: () => void) => [{ icon, text, name: domain, run }]
  if (verb === 'logs') return act(ScrollText, `Logs of ${domain}`, () => navigate(urls.domainLogs(domain)))
  if (verb === 'requests')
    return act(History, `Requests of ${domain}`, () => navigate(urls.requests({ domain })))
  if (verb === 'why')
    return act(Waypoints, `Why is ${domain} not reachable?`, () => navigate(urls.why(addressOf(domain))))
  if (verb === 'copy') return act(Copy, `Copy address of ${domain}`, () => copy(addressOf(domain)))
  if (verb === 'edit' && can.domain.edit(record))
    return act(Pencil, `Edit ${domain}`, () => doors.editDomain(record))
  if (verb === 'delete' && can.domain.remove(record))
    return act(Trash2, `Delete ${domain}`, () => void domains.remove(record))
  return []
}

/** What can be added to a node. */
export function exposeActs(node: Node, type: Reading['type'], { can, doors }: Means): Act[] {
  if (!can.node.expose) return []
  const types = type ? [type] : ServiceType.options
  return types.map((type) => ({
    icon: Plus,
    text: `Expose ${typeName(type)} on ${node.name}`,
    name: node.name,
    run: () => doors.expose(type, node),
  }))
}

const MANY = {
  enable: { word: 'Enable', icon: Power },
  disable: { word: 'Disable', icon: Power },
  delete: { word: 'Delete', icon: Trash2 },
} as const

/** What a verb does with all services of a node, after one question. */
export function manyActs(verb: Verb, node: Node, { can, many }: Means): Act[] {
  const count = countServices(node)
  if (!can.many.services || count === 0 || !(verb === 'enable' || verb === 'disable' || verb === 'delete'))
    return []
  const { word, icon } = MANY[verb]
  const which = { filter: { node: node.id }, total: count }
  const reach = count === 1 ? `It is the only one of ${node.name}. ` : `These are all of ${node.name}. `
  const run = () => void many.change(verb, { which, count, reach })
  return [{ icon, text: `${word} ${allText(count)} of ${node.name}`, name: node.name, run }]
}

/** `all 20 services`. */
export const allText = (count: number) =>
  count === 1 ? 'the only service' : `all ${countText(count, NOUNS.service)}`

/** The console itself is a service of the local node, and in no list of all services. */
export const countServices = ({ services, isLocal }: Pick<Node, 'services' | 'isLocal'>): number =>
  services - (isLocal ? 1 : 0)
