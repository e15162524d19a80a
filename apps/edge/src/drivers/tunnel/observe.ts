import { findText } from '@postern/host/files'
import type { Exec } from '@postern/host/processes/exec'
import type { OccupiedNetwork } from '@postern/render/wireguard/plan'
import { errorFrom } from '../part.ts'
import { barriersAmong, isBarrier } from './barriers.ts'
import {
  addressesOf,
  destinationOf,
  type IpRoute,
  type Link,
  occupiedNetworks,
  parseLinks,
  parseRoutes,
  sourceOf,
} from './ip-json.ts'
import type { ObservedTunnel } from './steps.ts'
import { findTunnel } from './wg.ts'

export interface TunnelSight {
  /** Undefined when there is no interface, or no WireGuard behind it. */
  tunnel: ObservedTunnel | undefined
  /** False when the administrator has switched IPv6 off for new interfaces. */
  hasIpv6: boolean
}

/** The networks that this machine is connected to. */
export interface Network {
  links: Link[]
  /** The main table's. */
  routes: IpRoute[]
  /** Routes that are not the tunnel's. */
  occupied: OccupiedNetwork[]
}

interface Options {
  exec: Exec
  interface: string
  resolvConfs: readonly string[]
}

/** Reads the interface. @throws PartFailedError, ProgramMissingError */
export async function observeTunnel(
  { exec, interface: name }: Options,
  { links, routes: all }: Network,
): Promise<TunnelSight> {
  const link = links.find((each) => each.ifname === name)
  const held = link && (await findTunnel(exec, name))
  const routes = all.flatMap((route) => {
    const destination = route.dev === name && destinationOf(route)
    return destination ? [{ destination, kernel: route.protocol === 'kernel', source: sourceOf(route) }] : []
  })
  const disabled = await exec.readFile(`/proc/sys/net/ipv6/conf/${name}/disable_ipv6`)
  return {
    tunnel: link &&
      held && {
        kind: link.linkinfo?.info_kind ?? 'hardware',
        mtu: link.mtu ?? 0,
        up: link.flags?.includes('UP') ?? false,
        held,
        addresses: addressesOf(link),
        routes,
        barriers: barriersAmong(all, name),
      },
    hasIpv6: disabled?.trim() === '0',
  }
}

/**
 * One program for all of it, since starting one costs the edge more than reading its output.
 * @throws PartFailedError, ProgramMissingError
 */
export async function observeNetwork(options: Options): Promise<Network> {
  // With `table all` it lists the routes of both families; those of other tables say so.
  const input = 'addr show\nroute show table all\n'
  const args = ['-j', '-d', '-batch', '-']
  const { code, stdout, stderr } = await options.exec.run('ip', args, { timeoutMs: 10_000, input })
  if (code !== 0) throw errorFrom('ip', stderr)
  const [first = '', second = ''] = stdout.split('\n')
  const links = parseLinks(first)
  const routes = parseRoutes(second).filter(({ table = 'main' }) => table === 'main')
  const foreign = routes.filter(
    (route) => route.dev !== options.interface && !isBarrier(route, options.interface),
  )
  const resolvers = await Promise.all(options.resolvConfs.map(readResolvers))
  return { links, routes, occupied: occupiedNetworks(links, foreign, resolvers.flat(), options.interface) }
}

async function readResolvers(path: string): Promise<string[]> {
  const text = (await findText(path)) ?? ''
  return [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map((match) => match[1] ?? '')
}
