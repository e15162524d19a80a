import { existsSync, readFileSync } from 'node:fs'
import type { NodeTargets } from '@postern/contract/agent/agent'
import { type AgentReport, MOST_REPORTED } from '@postern/contract/agent/agent-report'
import { messageOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/processes/exec'
import { contains, findCidrs, parseCidr } from '@postern/net/cidr'
import type { AgentPaths } from '../config.ts'
import { applyDns } from '../dns/resolver.ts'
import type { Credentials } from '../store.ts'
import { FAMILIES, type Family, familyOf } from '../tools.ts'
import type { Wanted } from '../wanted.ts'
import { createGateway } from './gateway.ts'
import { applyAddresses, applyLink, listOwnLinks, removeLink } from './link.ts'
import { applyRoutes, removeRules } from './routes.ts'
import { createServices } from './services.ts'
import {
  applyWireGuard,
  findTunnelState,
  isInForce,
  isPeerInForce,
  type ResolvedPeer,
  renderPeer,
  renderWireGuard,
  wg,
} from './wireguard.ts'

export interface TunnelInput {
  wanted: Wanted
  /** The resolved endpoint of each peer, in their order; undefined: it keeps the one that it has. */
  endpoints: readonly (string | undefined)[]
  /** Addresses to reach outside the tunnel. */
  outside: readonly string[]
  dns: readonly string[]
}

type Taken = Pick<AgentReport, 'takenPorts' | 'takenRoutes'>
const NOTHING_TAKEN: Taken = { takenPorts: [], takenRoutes: [] }

/** This machine's end of the tunnel. Changes only what differs from the wanted state. */
export interface Tunnel {
  /**
   * @returns what did not work although the tunnel is up
   * @throws AgentError when it cannot come up
   */
  apply(input: TunnelInput): Promise<string[]>
  /**
   * Sets WireGuard's peers again at the next `apply`, because wireguard-go keeps using a source address that is gone.
   */
  renew(): void
  /** The ports whose listeners may change where the published ports lead; called with the published ones. */
  watched(published: NodeTargets): NodeTargets
  /** What other programs have taken from it, as the last `apply` found. */
  taken(): Taken
  remove(): Promise<void>
}

export function createTunnel(exec: Exec, paths: AgentPaths, credentials: Credentials): Tunnel {
  const name = credentials.interface
  const gateway = createGateway(exec, name, paths.forwarding)
  const services = createServices(exec, name)
  /** What was written of each peer, by its key; undefined before the first time. */
  let written: ReadonlyMap<string, string> | undefined
  let dnsText: string | undefined
  let taken = NOTHING_TAKEN

  async function applyPeers({ wanted, endpoints }: TunnelInput): Promise<void> {
    const peers = wanted.peers.map((peer, index) => ({ ...peer, address: endpoints[index] }))
    const texts = new Map(peers.map((peer) => [peer.publicKey, renderPeer(peer)]))
    const before = await findTunnelState(exec, name)
    if (before && written && before.publicKey === credentials.publicKey) {
      // Writing the same peer again would undo its roaming, and disturb those that carry traffic.
      for (const { publicKey } of before.peers)
        if (!texts.has(publicKey)) await wg(exec, 'set', name, 'peer', publicKey, 'remove')
      const isWritten = (peer: ResolvedPeer) => written?.get(peer.publicKey) === renderPeer(peer)
      const news = peers.filter((peer) => !isWritten(peer) || !isPeerInForce(peer, before))
      const text = news.map(renderPeer).join('\n')
      if (news.length > 0) await applyWireGuard(exec, 'addconf', name, paths.wireguard, text)
      else if (before.peers.length === peers.length) return
    } else {
      const text = renderWireGuard(peers, credentials.privateKey, before?.listenPort ?? 0)
      await applyWireGuard(exec, 'syncconf', name, paths.wireguard, text)
    }
    if (!isInForce(wanted, credentials.publicKey, await findTunnelState(exec, name)))
      throw new Error("WireGuard rejected this node's configuration")
    written = texts
  }

  async function applyNameServers(dns: readonly string[]): Promise<string[]> {
    if (dnsText === dns.join()) return []
    const problems = await applyDns(exec, name, dns)
    dnsText = problems.length === 0 ? dns.join() : undefined
    return problems
  }

  async function applyGateway(wanted: Wanted): Promise<string[]> {
    // The node itself is reachable without forwarding, so a failure here leaves the tunnel up.
    if (wanted.gateway) return await gateway.apply(wanted.gateway).catch((error) => [messageOf(error)])
    await gateway.remove()
    return []
  }

  return {
    async apply(input) {
      const { wanted, outside, dns } = input
      await applyLink(exec, name, paths.configDir)
      // Before the peers, so that only published ports are reachable from the start.
      const closed = await services.apply(wanted)
      const families = listFamilies(name)
      const addresses = wanted.addresses.filter((one) => families.includes(familyOf(one)))
      await applyAddresses(exec, name, addresses)
      await applyPeers(input)
      const allowedIps = listRouted(wanted.peers)
      const routes = await applyRoutes(exec, { interface: name, allowedIps, families, outside })
      taken = {
        takenPorts: services.taken().slice(0, MOST_REPORTED),
        takenRoutes: routes
          .flatMap(({ isTaken, network }) => (isTaken ? network : []))
          .slice(0, MOST_REPORTED),
      }
      const unrouted = routes.map(({ problem }) => problem)
      return [...closed, ...unrouted, ...(await applyNameServers(dns)), ...(await applyGateway(wanted))]
    },
    renew() {
      written = undefined
    },
    watched: services.watched,
    taken: () => taken,
    async remove() {
      await removeTunnel(exec, paths, name)
      taken = NOTHING_TAKEN
      written = undefined
      dnsText = undefined
    },
  }
}

/** The networks that need a route of their own: those of most edges lie in that of the one beside the server. */
function listRouted([first, ...others]: Wanted['peers']): string[] {
  const wide = findCidrs(first.allowedIps).filter(({ prefix }) => prefix > 0)
  const isRouted = (network: string) => wide.some((outer) => contains(outer, parseCidr(network)))
  return [
    ...first.allowedIps,
    ...others.flatMap(({ allowedIps }) => allowedIps.filter((one) => !isRouted(one))),
  ]
}

/** Removes everything that the agent made. Safe when nothing or only a part exists. */
export async function removeTunnel(exec: Exec, paths: AgentPaths, name: string | undefined): Promise<void> {
  const names = new Set([...(name ? [name] : []), ...(await listOwnLinks(exec, paths.configDir))])
  for (const one of names) {
    await removeRules(exec, one)
    await createGateway(exec, one, paths.forwarding).remove()
    await removeLink(exec, one, paths.configDir)
    await createServices(exec, one).remove()
  }
}

/** Without IPv6 where the machine has it switched off. */
function listFamilies(name: string): Family[] {
  const path = `/proc/sys/net/ipv6/conf/${name}/disable_ipv6`
  const hasIpv6 = existsSync(path) && readFileSync(path, 'utf8').trim() === '0'
  return FAMILIES.filter((family) => family === '-4' || hasIpv6)
}
