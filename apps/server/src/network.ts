import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { findCidr, formatCidr } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'

/** This machine's place in its networks. Addresses without prefix, networks in CIDR form. */
export interface MachineNetwork {
  addresses: readonly string[]
  networks: readonly string[]
  /** The routers and name servers it depends on. */
  dependsOn: readonly string[]
  /** The address of the interface of the default route; null without one. */
  defaultAddress: string | null
}

export interface InterfaceAddress {
  name: string
  cidr: string
}

/** Reads the machine's interfaces, routes and name servers; what cannot be read counts as absent. */
export function observeNetwork(): MachineNetwork {
  const own = Object.entries(networkInterfaces()).flatMap(([name, list = []]) =>
    list.flatMap(({ cidr }) => (cidr === null ? [] : [{ name, cidr }])),
  )
  return describeNetwork(own, {
    route: readProc('/proc/net/route'),
    route6: readProc('/proc/net/ipv6_route'),
    resolv: readProc('/etc/resolv.conf'),
  })
}

function readProc(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // Not Linux, or hidden by a container: the machine then has no known default route.
    return ''
  }
}

/** The same, from the texts of Linux's files. */
export function describeNetwork(
  own: readonly InterfaceAddress[],
  files: { route: string; route6: string; resolv: string },
): MachineNetwork {
  const route4 = parseRoute4(files.route)
  const route6 = parseRoute6(files.route6)
  const addressOn = (name: string | undefined, family: 4 | 6) =>
    own.find((entry) => entry.name === name && isGlobal(entry.cidr, family))?.cidr.split('/')[0] ?? null
  return {
    addresses: own.map(({ cidr }) => plain(cidr.split('/')[0] ?? '')),
    networks: own.flatMap(({ cidr }) => {
      const network = findCidr(cidr)
      return network ? [formatCidr(network)] : []
    }),
    dependsOn: [route4?.via, route6?.via, ...nameServers(files.resolv)].filter((via) => via !== undefined),
    defaultAddress: addressOn(route4?.name, 4) ?? addressOn(route6?.name, 6),
  }
}

function plain(address: string): string {
  const ip = findIp(address)
  return ip ? formatIp(ip) : address
}

function isGlobal(cidr: string, family: 4 | 6): boolean {
  const network = findCidr(cidr)
  return network?.base.family === family && !/^fe80:/i.test(cidr)
}

interface DefaultRoute {
  name: string
  via: string | undefined
}

/** `/proc/net/route`: the address is in the byte order of a little-endian machine. */
function parseRoute4(text: string): DefaultRoute | undefined {
  const rows = text.split('\n').map((line) => line.split(/\s+/))
  const row = rows.find(
    ([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000',
  )
  const [name, , gateway = ''] = row ?? []
  if (name === undefined) return undefined
  const bytes = gateway.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? []
  const via = bytes.reverse().join('.')
  return { name, via: via === '0.0.0.0' ? undefined : via }
}

function parseRoute6(text: string): DefaultRoute | undefined {
  const zero = '0'.repeat(32)
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/))
  const row = rows.find(([to, length, , , , , , , , name]) => to === zero && length === '00' && name !== 'lo')
  const [, , , , gateway = ''] = row ?? []
  const name = row?.[9]
  if (name === undefined) return undefined
  const via = gateway === zero ? undefined : plain(gateway.match(/.{4}/g)?.join(':') ?? '')
  return { name, via }
}

function nameServers(resolv: string): string[] {
  return resolv
    .split('\n')
    .flatMap((line) => /^nameserver\s+(\S+)/.exec(line)?.[1] ?? [])
    .filter((address) => findIp(address) !== undefined)
}
