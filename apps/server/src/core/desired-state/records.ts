import type { Backend, Peer, Route, RouteNode } from '@postern/contract/desired-state'
import type { NodeRow, ServiceRow } from '../../db/schema.ts'
import { networksOf, textsOf } from '../columns.ts'

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

/** A node as its routes see it. */
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

export type RoutedService = Pick<
  ServiceRow,
  | 'id'
  | 'path'
  | 'backend_proto'
  | 'backend_host'
  | 'backend_port'
  | 'allowed_ips'
  | 'blocked_ips'
  | 'enabled'
  | 'system'
>

/** A service as the edge routes it; off when it is disabled itself or its node is. */
export function routeOf(service: RoutedService, node: RoutedNode, domain: string | null): Route {
  return {
    id: service.id,
    domain,
    path: service.path ?? '/',
    node: node.target,
    backend: backendOf(service),
    enabled: service.enabled === 1 && node.enabled,
    system: service.system === 1,
    allowedIps: textsOf(service.allowed_ips),
    blockedIps: textsOf(service.blocked_ips),
  }
}

function backendOf(service: RoutedService): Backend {
  return { proto: service.backend_proto ?? 'http', host: service.backend_host, port: service.backend_port }
}
