import { readFile } from 'node:fs/promises'
import type { Exec } from '@postern/host/exec'
import type { OccupiedNetwork } from '@postern/render/wireguard/plan'
import { errorFrom } from '../part.ts'
import { addressesOf, destinationOf, occupiedNetworks, parseLinks, parseRoutes } from './ip-json.ts'
import type { ObservedTunnel } from './steps.ts'
import { findTunnel } from './wg.ts'

export interface TunnelSight {
  /** Undefined when there is no interface, or nothing behind it speaks WireGuard. */
  tunnel: ObservedTunnel | undefined
  occupied: OccupiedNetwork[]
  /** False when the administrator has switched IPv6 off for new interfaces. */
  hasIpv6: boolean
}

const TIMEOUT = { timeoutMs: 10_000 }

/** Reads the interface and what else this machine is connected to. @throws PartFailedError, ProgramMissingError */
export async function observeTunnel(options: {
  exec: Exec
  interface: string
  resolvConf: string
}): Promise<TunnelSight> {
  const { exec, interface: name } = options
  const { links, routes: all } = await readNetwork(exec)
  const [own, foreign] = [all.filter(({ dev }) => dev === name), all.filter(({ dev }) => dev !== name)]
  const link = links.find((each) => each.ifname === name)
  const held = link && (await findTunnel(exec, name))
  const routes = own.flatMap((route) => {
    const destination = destinationOf(route)
    return destination ? [{ destination, kernel: route.protocol === 'kernel' }] : []
  })
  const disabled = await exec.readFile(`/proc/sys/net/ipv6/conf/${name}/disable_ipv6`)
  const resolvers = await readResolvers(options.resolvConf)
  return {
    tunnel: link &&
      held && {
        kind: link.linkinfo?.info_kind ?? 'hardware',
        mtu: link.mtu ?? 0,
        up: link.flags?.includes('UP') ?? false,
        held,
        addresses: addressesOf(link),
        routes,
      },
    occupied: occupiedNetworks(links, foreign, resolvers, name),
    hasIpv6: disabled?.trim() === '0',
  }
}

/** What else this machine is connected to. @throws PartFailedError, ProgramMissingError */
export async function observeOccupied(options: {
  exec: Exec
  interface: string
  resolvConf: string
}): Promise<OccupiedNetwork[]> {
  const { links, routes } = await readNetwork(options.exec)
  const foreign = routes.filter(({ dev }) => dev !== options.interface)
  return occupiedNetworks(links, foreign, await readResolvers(options.resolvConf), options.interface)
}

/** One program for all of it, since starting one costs the edge more than what it reads. */
async function readNetwork(exec: Exec) {
  // With `table all` it lists the routes of both families; those of other tables say so.
  const input = 'addr show\nroute show table all\n'
  const { code, stdout, stderr } = await exec.run('ip', ['-j', '-d', '-batch', '-'], { ...TIMEOUT, input })
  if (code !== 0) throw errorFrom('ip', stderr)
  const [links = '', routes = ''] = stdout.split('\n')
  return {
    links: parseLinks(links),
    routes: parseRoutes(routes).filter(({ table = 'main' }) => table === 'main'),
  }
}

async function readResolvers(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map((match) => match[1] ?? '')
}
