import { existsSync, readFileSync } from 'node:fs'
import type { NodeTargets } from '@postern/contract/agent/agent'
import { type AgentReport, MOST_REPORTED } from '@postern/contract/agent/agent-report'
import { messageOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/processes/exec'
import type { AgentPaths } from '../config.ts'
import { applyDns } from '../dns/resolver.ts'
import type { Credentials } from '../store.ts'
import { FAMILIES, type Family, familyOf } from '../tools.ts'
import type { Wanted } from '../wanted.ts'
import { createGateway } from './gateway.ts'
import { applyAddresses, applyLink, listOwnLinks, removeLink } from './link.ts'
import { applyRoutes, removeRules } from './routes.ts'
import { createServices } from './services.ts'
import { applyWireGuard, findTunnelState, isInForce, renderWireGuard } from './wireguard.ts'

export interface TunnelInput {
  wanted: Wanted
  /** The resolved endpoint. */
  address: string
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
   * Sets WireGuard's peer again at the next `apply`, because wireguard-go keeps using a source address that is gone.
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
  let peerText = ''
  let dnsText: string | undefined
  let taken = NOTHING_TAKEN

  async function applyPeer({ wanted, address }: TunnelInput): Promise<void> {
    const before = await findTunnelState(exec, name)
    const text = renderWireGuard(wanted, credentials.privateKey, address, 0)
    // Writing the same peer again would undo its roaming.
    if (text === peerText && isInForce(wanted, credentials.publicKey, before)) return
    const file = renderWireGuard(wanted, credentials.privateKey, address, before?.listenPort ?? 0)
    await applyWireGuard(exec, name, paths.wireguard, file)
    if (!isInForce(wanted, credentials.publicKey, await findTunnelState(exec, name)))
      throw new Error("WireGuard rejected this node's configuration")
    peerText = text
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
      // Before the peer, so that only published ports are reachable from the start.
      const closed = await services.apply(wanted)
      const families = listFamilies(name)
      const addresses = wanted.addresses.filter((one) => families.includes(familyOf(one)))
      await applyAddresses(exec, name, addresses)
      await applyPeer(input)
      const { allowedIps } = wanted.peer
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
      peerText = ''
    },
    watched: services.watched,
    taken: () => taken,
    async remove() {
      await removeTunnel(exec, paths, name)
      taken = NOTHING_TAKEN
      peerText = ''
      dnsText = undefined
    },
  }
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
