import type { DesiredState } from '@postern/contract/desired-state'
import type { Settings } from '@postern/contract/settings'
import { contains, findCidr, formatCidr, overlaps, parseCidr } from '@postern/net/cidr'
import { isDomainName } from '@postern/net/hostname'
import { isIp } from '@postern/net/ip'
import { isWireGuardKey } from '@postern/net/keys'
import { StateError } from './held-state.ts'
import type { Machine } from './machine.ts'

/** What the edge knows of its installation by itself, and believes no server about. */
export interface Known {
  settings: Pick<Settings, 'POSTERN_TUNNEL_NETWORK' | 'POSTERN_PUBLIC_HOST'>
  ownNetworks: Machine['ownNetworks']
}

/** Unique local addresses (RFC 4193), of which an installation makes one /64 at its first start. */
const UNIQUE_LOCAL = parseCidr('fd00::/8')
const LENGTH6 = 64

/**
 * A state whose tunnel is not the one of this edge's own settings comes from a server that is not ours, or is set
 * otherwise than we are. Nothing of it is taken.
 * @throws StateError with words that say what to do
 */
export function assertKnown({ settings }: Pick<DesiredState, 'settings'>, known: Known): void {
  const reason =
    whyNotNetwork4(settings.tunnelNetwork4, known) ??
    whyNotNetwork6(settings.tunnelNetwork6, known) ??
    whyNotHost(settings.publicHost, known)
  if (reason) throw new StateError(reason)
  if (!isWireGuardKey(settings.tunnelPrivateKey))
    throw new StateError("The server's key for the tunnel is not a WireGuard key.")
}

function whyNotNetwork4(text: string, { settings }: Known): string | undefined {
  const own = settings.POSTERN_TUNNEL_NETWORK
  const network = findCidr(text)
  if (network && formatCidr(network) === own) return undefined
  return `The server wants the tunnel ${text}, but the edge is set to ${own}: start both with the same POSTERN_TUNNEL_NETWORK.`
}

function whyNotNetwork6(text: string, { ownNetworks }: Known): string | undefined {
  const network = findCidr(text)
  if (!network || network.prefix !== LENGTH6 || !contains(UNIQUE_LOCAL, network))
    return `The server wants the tunnel ${text}, which is not a /64 of unique local addresses.`
  const met = ownNetworks.find((own) => overlaps(own.network, network))
  return (
    met && `The server wants the tunnel ${text}, but this machine is in ${formatCidr(met.network)} itself.`
  )
}

function whyNotHost(host: string, { settings }: Known): string | undefined {
  const own = settings.POSTERN_PUBLIC_HOST?.toLowerCase()
  if (own !== undefined && own !== host)
    return `The server calls itself ${host}, but the edge is set to ${own}: start both with the same POSTERN_PUBLIC_HOST.`
  return isIp(host) || isDomainName(host)
    ? undefined
    : `The server calls itself ${host}, which is not a valid host.`
}
