import { existsSync, readFileSync } from 'node:fs'
import type { Exec } from '@postern/host/exec'
import { applyDns } from '../dns/resolver.ts'
import { messageOf } from '../errors.ts'
import type { AgentPaths } from '../paths.ts'
import type { Credentials } from '../store.ts'
import type { Wanted } from '../wanted.ts'
import { createGateway, removeGateway } from './gateway.ts'
import { FAMILIES, type Family, familyOf } from './ip-command.ts'
import { applyAddresses, applyLink, listOwnLinks, removeLink } from './link.ts'
import { applyRoutes, removeRules } from './routes.ts'
import { applyWireGuard, findTunnelState, isInForce, renderWireGuard } from './wireguard.ts'

export interface TunnelInput {
  wanted: Wanted
  /** The resolved endpoint. */
  address: string
  /** What must be reached beside the tunnel. */
  beside: readonly string[]
  dns: readonly string[]
}

/** Makes this machine's end of the tunnel equal to what is wanted, touching only what differs. */
export interface Tunnel {
  /** @returns what could not be had although the tunnel stands. @throws AgentError when it cannot stand. */
  apply(input: TunnelInput): Promise<string[]>
  remove(): Promise<void>
}

export function createTunnel(exec: Exec, paths: AgentPaths, credentials: Credentials): Tunnel {
  const name = credentials.interface
  let gateway = createGateway(exec, name, paths.forwarding)
  let peerText = ''
  let dnsText: string | undefined

  async function applyPeer({ wanted, address }: TunnelInput): Promise<void> {
    const before = await findTunnelState(exec, name)
    const text = renderWireGuard(wanted, credentials.privateKey, address, 0)
    // Writing the same again would undo the roaming of the peer, so it is only done when something differs.
    if (text === peerText && isInForce(wanted, credentials.publicKey, before)) return
    const file = renderWireGuard(wanted, credentials.privateKey, address, before?.listenPort ?? 0)
    await applyWireGuard(exec, name, paths.wireguard, file)
    if (!isInForce(wanted, credentials.publicKey, await findTunnelState(exec, name)))
      throw new Error('WireGuard did not take its configuration')
    peerText = text
  }

  async function applyNameServers(dns: readonly string[]): Promise<string[]> {
    if (dnsText === dns.join()) return []
    const problems = await applyDns(exec, name, dns)
    dnsText = problems.length === 0 ? dns.join() : undefined
    return problems
  }

  async function applyGateway(wanted: Wanted): Promise<string[]> {
    // The node itself is reached without forwarding, so a failure here does not bring the tunnel down.
    if (wanted.gateway) return await gateway.apply(wanted.gateway).catch((error) => [messageOf(error)])
    await removeGateway(exec, name, paths.forwarding)
    gateway = createGateway(exec, name, paths.forwarding)
    return []
  }

  return {
    async apply(input) {
      const { wanted, beside, dns } = input
      await applyLink(exec, name, paths.configDir)
      const families = listFamilies(name)
      const addresses = wanted.addresses.filter((one) => families.includes(familyOf(one)))
      await applyAddresses(exec, name, addresses)
      await applyPeer(input)
      const { allowedIps } = wanted.peer
      const routes = await applyRoutes(exec, { interface: name, allowedIps, families, beside })
      return [...routes, ...(await applyNameServers(dns)), ...(await applyGateway(wanted))]
    },
    async remove() {
      await removeTunnel(exec, paths, name)
      peerText = ''
      dnsText = undefined
      gateway = createGateway(exec, name, paths.forwarding)
    },
  }
}

/** Removes what the agent made: safe to run when nothing or only a part is there. */
export async function removeTunnel(exec: Exec, paths: AgentPaths, name: string | undefined): Promise<void> {
  const names = new Set([...(name ? [name] : []), ...(await listOwnLinks(exec, paths.configDir))])
  for (const one of names) {
    await removeRules(exec, one)
    await removeGateway(exec, one, paths.forwarding)
    await removeLink(exec, one, paths.configDir)
  }
}

/** A machine may have IPv6 switched off; then the tunnel does without. */
function listFamilies(name: string): Family[] {
  const path = `/proc/sys/net/ipv6/conf/${name}/disable_ipv6`
  const hasIpv6 = existsSync(path) && readFileSync(path, 'utf8').trim() === '0'
  return FAMILIES.filter((family) => family === '-4' || hasIpv6)
}
