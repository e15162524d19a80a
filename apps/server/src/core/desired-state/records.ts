import type { Backend, Peer, PortRoute, Route, RouteNode } from '@postern/contract/edge/desired-state'
import { parseBypass } from '@postern/net/bypass'
import { contains, findCidr, findCidrs, formatCidr, subtract, unmapped } from '@postern/net/cidr'
import { httpFieldsOf, httpSwitchesOf, type OwnColumns } from '../../db/columns.ts'
import type { NodeRow, ServiceRow } from '../../db/schema.ts'
import { networksOf, textsOf } from '../columns.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'

/** The networks behind a node; none for a plain one. */
export function subnetsOf(node: Pick<NodeRow, 'is_gateway' | 'gateway_networks'>): string[] {
  return node.is_gateway ? networksOf(node).map(({ subnet }) => subnet) : []
}

type PeerRow = Pick<
  NodeRow,
  'id' | 'address' | 'keepalive' | 'is_gateway' | 'gateway_networks' | 'allow_internet'
> & { publicKey: string; presharedKey: string }

/** A node as WireGuard knows it. `address6` is its IPv6 address in the tunnel. */
export function peerOf(node: PeerRow, address6: string): Peer {
  return {
    nodeId: node.id,
    publicKey: node.publicKey,
    presharedKey: node.presharedKey,
    address4: node.address,
    address6,
    subnets: subnetsOf(node),
    keepalive: node.keepalive,
    allowInternet: node.allow_internet === 1,
  }
}

/** The fields of a node that its routes need. */
export interface RoutedNode {
  target: RouteNode
  enabled: boolean
}

type NodeTarget = Pick<NodeRow, 'id' | 'address' | 'is_local' | 'is_gateway' | 'gateway_networks' | 'enabled'>

export function routedNodeOf(node: NodeTarget): RoutedNode {
  return { target: targetOf(node), enabled: node.enabled === 1 }
}

function targetOf(node: NodeTarget): RouteNode {
  if (node.is_local) return { kind: 'local' }
  const { id, address: address4 } = node
  return node.is_gateway
    ? { kind: 'gateway', id, address4, subnets: subnetsOf(node) }
    : { kind: 'plain', id, address4 }
}

type RoutedService = OwnColumns &
  Pick<
    ServiceRow,
    'id' | 'backend_host' | 'backend_port' | 'allowed_ips' | 'blocked_ips' | 'enabled' | 'system'
  >

/** An HTTP service as the edge routes it. */
export function routeOf(
  service: RoutedService,
  node: RoutedNode,
  domain: string | null,
  tunnel: TunnelNetworks,
): Route {
  const fields = httpFieldsOf(service)
  return {
    ...commonOf(service, node, tunnel),
    ...httpSwitchesOf(service),
    domain,
    path: fields.pathLocation,
    backend: { proto: fields.backendProto, ...placeOf(service) },
    system: service.system === 1,
    signIn: fields.requireAuth ? parseBypass(fields.skipAuthRoutes ?? '').bypass : null,
  }
}

/** A TCP or UDP service as the edge routes it. */
export function portRouteOf(
  service: RoutedService,
  node: RoutedNode,
  domain: string | null,
  tunnel: TunnelNetworks,
): PortRoute {
  const common = { ...commonOf(service, node, tunnel), port: service.port ?? 0, backend: placeOf(service) }
  if (service.proto === 'udp') return { ...common, proto: 'udp' }
  return { ...common, proto: 'tcp', tls: service.ssl === 1 ? { domain } : null }
}

/** False when the service or its node is disabled. */
function commonOf(service: RoutedService, node: RoutedNode, tunnel: TunnelNetworks) {
  return {
    id: service.id,
    node: node.target,
    enabled: service.enabled === 1 && node.enabled,
    allowedIps: withoutTunnel(textsOf(service.allowed_ips), tunnel),
    blockedIps: textsOf(service.blocked_ips),
  }
}

type TunnelNetworks = Pick<Tunnel, 'network4' | 'network6'>

/**
 * A list with a private network means an office or a home, not all nodes just because the tunnel's addresses are
 * private too. The tunnel's own network, or a part of it, admits nodes, and so does a list that admits everybody.
 */
function withoutTunnel(allowed: readonly string[], { network4, network6 }: TunnelNetworks): string[] {
  const tunnel = findCidrs([network4, network6])
  return [...new Set(allowed)].flatMap((text) => {
    const entry = findCidr(text)
    const outer = entry && unmapped(entry)
    const inner = tunnel.find((one) => outer && outer.prefix < one.prefix && contains(outer, one))
    return outer && inner && outer.prefix > 0 ? subtract(outer, inner).map(formatCidr) : [text]
  })
}

function placeOf(service: RoutedService): Omit<Backend, 'proto'> {
  return { host: service.backend_host, port: service.backend_port }
}
