import { readFile } from 'node:fs/promises'
import type { Exec } from '@postern/host/exec'
import { parseWgDump } from '@postern/host/wg-dump'
import type { OccupiedNetwork } from '@postern/render/wireguard/plan'
import { errorFrom, PartFailedError } from '../part.ts'
import { addressesOf, destinationOf, occupiedNetworks, parseLinks, parseRoutes } from './ip-json.ts'
import type { ObservedTunnel } from './tunnel-steps.ts'

export interface TunnelSight {
  tunnel: ObservedTunnel
  occupied: OccupiedNetwork[]
  /** False when the administrator has switched IPv6 off for new interfaces. */
  hasIpv6: boolean
}

const TIMEOUT = { timeoutMs: 10_000 }

/** Reads the interface and what else this machine is connected to. @throws PartFailedError, PartMissingError */
export async function observeTunnel(options: {
  exec: Exec
  interface: string
  resolvConf: string
}): Promise<TunnelSight> {
  const read = async (program: string, ...args: string[]) => {
    const { code, stdout, stderr } = await options.exec.run(program, args, TIMEOUT)
    if (code !== 0) throw errorFrom(`${program} ${args.join(' ')}`, stderr)
    return stdout
  }
  const dev = ['show', 'dev', options.interface, 'table', 'main']
  // One after the other: together they would take every core from HAProxy for a moment.
  const links = parseLinks(await read('ip', '-j', 'addr', 'show'))
  const dump = parseWgDump(await read('wg', 'show', options.interface, 'dump'))
  const ipv6 = await isIpv6On(options.exec, options.interface)
  const families = ipv6 ? ['-4', '-6'] : ['-4']
  const routes: ObservedTunnel['routes'] = []
  const defaults = []
  for (const family of families) {
    for (const route of parseRoutes(await read('ip', family, '-j', 'route', ...dev))) {
      const destination = destinationOf(route)
      if (destination) routes.push({ destination, kernel: route.protocol === 'kernel' })
    }
    defaults.push(...parseRoutes(await read('ip', family, '-j', 'route', 'show', 'default')))
  }
  const link = links.find((each) => each.ifname === options.interface)
  if (!link) throw new PartFailedError(`The interface ${options.interface} is not there.`)
  const tunnel: ObservedTunnel = {
    mtu: link.mtu ?? 0,
    up: link.flags?.includes('UP') ?? false,
    dump,
    addresses: addressesOf(link),
    routes,
  }
  const resolvers = await readResolvers(options.resolvConf)
  return {
    tunnel,
    occupied: occupiedNetworks(links, defaults, resolvers, options.interface),
    hasIpv6: ipv6,
  }
}

/** Read by a program, because only that sees the network namespace that the other programs see. */
async function isIpv6On(exec: Exec, name: string): Promise<boolean> {
  const { code, stdout } = await exec.run('cat', [`/proc/sys/net/ipv6/conf/${name}/disable_ipv6`], TIMEOUT)
  return code === 0 && stdout.trim() === '0'
}

async function readResolvers(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map((match) => match[1] ?? '')
}
