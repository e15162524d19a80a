import type { DesiredState } from '@postern/contract/edge/desired-state'
import type { Settings } from '@postern/contract/settings/settings'
import { contains, findCidr, formatCidr, overlaps, parseCidr } from '@postern/net/cidr'
import { isDomainName } from '@postern/net/hostname'
import { isIp } from '@postern/net/ip'
import { isWireGuardKey } from '@postern/net/keys'
import type { KnownInstallation } from '../identity/identity.ts'
import type { Machine } from '../machine.ts'
import { StateError } from '../state/held-state.ts'

/** What the edge knows about its installation, and accepts otherwise from no server. */
export interface Known {
  settings: Pick<Settings, 'POSTERN_TUNNEL_NETWORK' | 'POSTERN_PUBLIC_HOST'>
  /** What an edge elsewhere was told when it joined, instead of its settings. */
  joined?: Pick<KnownInstallation, 'tunnelNetwork4' | 'tunnelNetwork6' | 'publicHost'> | undefined
  ownNetworks: Machine['ownNetworks']
}

/** Unique local addresses (RFC 4193), of which an installation makes one /64 at its first start. */
const UNIQUE_LOCAL = parseCidr('fd00::/8')
const LENGTH6 = 64

/**
 * A state whose tunnel differs from what this edge knows comes from a foreign server, or one with other settings. It
 * is refused as a whole.
 * @throws StateError with a message that says what to do
 */
export function assertKnown({ settings }: Pick<DesiredState, 'settings'>, known: Known): void {
  const reason =
    (known.joined ? whyNotJoined(settings, known.joined) : whyNotSet(settings, known)) ??
    whyNotNetwork6(settings.tunnelNetwork6, known) ??
    [settings.publicHost, ...settings.formerHosts].map(whyNotHost).find((found) => found !== undefined)
  if (reason) throw new StateError(reason)
  if (!isWireGuardKey(settings.tunnelPrivateKey))
    throw new StateError("The server's key for the tunnel is not a WireGuard key.")
}

/** An installation that moves to another host still answers at the one before. */
function whyNotJoined(
  { tunnelNetwork4, tunnelNetwork6, publicHost, formerHosts }: DesiredState['settings'],
  joined: NonNullable<Known['joined']>,
): string | undefined {
  const anew = 'If the installation is a new one, run postern-edge leave, and join it.'
  if (tunnelNetwork4 !== joined.tunnelNetwork4)
    return `The server wants the tunnel ${tunnelNetwork4}, but this edge has joined one with ${joined.tunnelNetwork4}. ${anew}`
  if (tunnelNetwork6 !== joined.tunnelNetwork6)
    return `The server wants the tunnel ${tunnelNetwork6}, but this edge has joined one with ${joined.tunnelNetwork6}. ${anew}`
  return [publicHost, ...formerHosts].includes(joined.publicHost)
    ? undefined
    : `The server calls itself ${publicHost}, but this edge has joined ${joined.publicHost}. ${anew}`
}

function whyNotSet(settings: DesiredState['settings'], known: Known): string | undefined {
  return whyNotNetwork4(settings.tunnelNetwork4, known) ?? whyNotOwnHost(settings.publicHost, known)
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
    met && `The server wants the tunnel ${text}, but this machine itself is in ${formatCidr(met.network)}.`
  )
}

function whyNotOwnHost(host: string, { settings }: Known): string | undefined {
  const own = settings.POSTERN_PUBLIC_HOST?.toLowerCase()
  if (own === undefined || own === host) return undefined
  return `The server calls itself ${host}, but the edge is set to ${own}: start both with the same POSTERN_PUBLIC_HOST.`
}

function whyNotHost(host: string): string | undefined {
  return isIp(host) || isDomainName(host)
    ? undefined
    : `The server calls itself ${host}, which is not a valid host.`
}
