import { type Cidr, containsIp, overlaps, parseCidr, single } from './cidr.ts'
import { formatIp, type Ip } from './ip.ts'
import { isForPrivateUse, isSpecial } from './special.ts'

/** What the rules need to know about the tunnel and the server's machine. */
export interface Surroundings {
  tunnel: readonly Cidr[]
  /** The networks behind all gateways. */
  behindGateways: readonly Cidr[]
  /** The machine's own addresses, other than loopback and the tunnel's, and the networks they are in. */
  ownAddresses: readonly Ip[]
  ownNetworks: readonly Cidr[]
  /** The machine's ports that belong to the server, the edge or HAProxy. */
  ownPorts: readonly number[]
}

/** Why a service may not lead to an address; each text follows the address. */
export const TARGET_FAULTS = {
  reserved: 'is not an address of a node',
  notInTunnel: 'is not in the tunnel',
  outside: 'is not in the networks of this gateway',
  tunnel: 'is inside the tunnel: publish it on the node it belongs to',
  behindGateway: 'is behind a gateway: publish it on that node',
  special: 'is a loopback, link-local, multicast or reserved address',
  public: 'is not in a private network',
  ownNetwork: 'is in a network of this server itself',
  ownPort: 'is used by Postern itself on this port',
} as const
export type TargetFault = keyof typeof TARGET_FAULTS

const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(parseCidr)
/** Programs that connect to these reach the machine itself. */
const UNSPECIFIED = ['0.0.0.0/32', '::/128'].map(parseCidr)

/** Why an address cannot be a node's own. */
export function findNodeFault(ip: Ip, tunnel: readonly Cidr[]): TargetFault | undefined {
  if (!isIn(tunnel, ip)) return 'notInTunnel'
  return isReserved(ip) ? 'reserved' : undefined
}

/** True for .0, .1 and .255 of each /24 of the tunnel: the network itself, the edge, the broadcast address. */
export function isReserved({ family, value }: Ip): boolean {
  return family === 4 && [0n, 1n, 255n].includes(value & 255n)
}

/** Why a service of a gateway with these networks may not lead to an address. */
export function findGatewayFault(
  ip: Ip,
  subnets: readonly Cidr[],
  around: Pick<Surroundings, 'tunnel' | 'ownNetworks'>,
): TargetFault | undefined {
  if (!isIn(subnets, ip)) return 'outside'
  if (isIn(around.tunnel, ip)) return 'tunnel'
  if (isSpecial(single(ip))) return 'special'
  if (!isForPrivateUse(single(ip))) return 'public'
  return isIn(around.ownNetworks, ip) ? 'ownNetwork' : undefined
}

/** Why a service of this machine itself may not lead to an address and port. */
export function findLocalFault(ip: Ip, port: number, around: Surroundings): TargetFault | undefined {
  const isLoopback = isIn(LOOPBACK, ip)
  const text = formatIp(ip)
  const isOwn =
    isLoopback || isIn(UNSPECIFIED, ip) || around.ownAddresses.some((own) => formatIp(own) === text)
  if (isOwn && around.ownPorts.includes(port)) return 'ownPort'
  if (!isLoopback && isSpecial(single(ip))) return 'special'
  if (isIn(around.tunnel, ip)) return 'tunnel'
  // A gateway's network that overlaps one of our own is not routed into the tunnel.
  return isIn(around.behindGateways, ip) && !isIn(around.ownNetworks, ip) ? 'behindGateway' : undefined
}

/** The address of a name that means the local machine wherever it is looked up (RFC 6761). */
export function findLocalhost(name: string): Ip | undefined {
  return name === 'localhost' || name.endsWith('.localhost') ? LOOPBACK[0]?.base : undefined
}

/** Why a gateway cannot have a network: what it is, or which of the `used` ones it overlaps. */
export function findSubnetFault<T extends { network: Cidr }>(
  subnet: Cidr,
  used: readonly T[],
): 'special' | 'public' | T | undefined {
  if (isSpecial(subnet)) return 'special'
  if (!isForPrivateUse(subnet)) return 'public'
  return used.find(({ network }) => overlaps(network, subnet))
}

function isIn(networks: readonly Cidr[], ip: Ip): boolean {
  return networks.some((network) => containsIp(network, ip))
}
