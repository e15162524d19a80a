import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { closedPortsOf, type EdgeSettings } from '@postern/contract/settings/settings'
import { codeOf } from '@postern/host/errors'
import { type Cidr, containsIp, findCidr, parseCidr } from '@postern/net/cidr'
import { findIp, formatIp, type Ip } from '@postern/net/ip'
import { haproxyPaths } from '@postern/render/haproxy/options'

/** What the edge knows about this machine. */
export interface Machine {
  /** Its addresses with their prefix length, other than loopback and the tunnel's. */
  ownNetworks: readonly { address: Ip; network: Cidr }[]
  ownPorts: readonly number[]
}

/** The networks that this machine is connected to, and our own ports on it. */
export function observeMachine(settings: EdgeSettings, edgePorts: readonly number[]): Machine {
  const ownNetworks = Object.entries(networkInterfaces())
    .filter(([name]) => name !== settings.POSTERN_TUNNEL_INTERFACE)
    .flatMap(([, infos]) => infos ?? [])
    .filter((info) => !info.internal)
    .flatMap((info) => {
      const address = findIp(info.address)
      const network = findCidr(info.cidr ?? info.address)
      return address && network ? [{ address, network }] : []
    })
  return { ownNetworks, ownPorts: [...closedPortsOf(settings), ...edgePorts] }
}

const LINK_LOCAL = parseCidr('fe80::/10')
const MOST_ADDRESSES = 32

/** The machine's addresses as texts, without those that are good on one link only. */
export function listOwnAddresses(own: Machine['ownNetworks']): string[] {
  return own
    .filter(({ address }) => !containsIp(LINK_LOCAL, address))
    .map(({ address }) => formatIp(address))
    .slice(0, MOST_ADDRESSES)
}

/** The port on loopback where the edge takes HAProxy's log lines, while there is one. */
export function findLogPort(haproxyDir: string): number[] {
  try {
    return [Number(readFileSync(haproxyPaths(haproxyDir).logPort, 'utf8'))]
  } catch (error) {
    // Before HAProxy's first start.
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
