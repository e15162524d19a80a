import type { NodeTargets } from '@postern/contract/agent'

/** A program of this machine that takes what comes to a port. */
export interface Listener {
  proto: Proto
  /** IPv4, dotted. */
  address: string
  port: number
  uid: number
}
export type Proto = keyof NodeTargets

export const PROTOS: readonly Proto[] = ['tcp', 'udp']
const LISTENING = '0A'

/** An address of IPv4 in the list of IPv6, where Java's programs are. */
const MAPPED = /^0000000000000000FFFF0000/
const ANY6 = '0'.repeat(32)

/** The lines of /proc/net/tcp, /proc/net/udp and their like of IPv6 that are about these ports. */
export function parseListeners(proto: Proto, text: string, ports: ReadonlySet<number>): Listener[] {
  return text.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , uid = ''] = line.trim().split(/\s+/)
    const [, found, hex = ''] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(local) ?? []
    const address = found && inIpv4(proto, found)
    const port = Number.parseInt(hex, 16)
    // A UDP socket that is bound to one visitor's address takes his packets all the same.
    if (address === undefined || !ports.has(port) || (proto === 'tcp' && state !== LISTENING)) return []
    return [{ proto, address: dotted(address), port, uid: Number(uid) }]
  })
}

/**
 * The eight digits of an address of IPv4. No other TCP socket gets a port beside one for all addresses of both kinds, so
 * one that has another beside it takes IPv6 alone; of UDP it may take both.
 */
function inIpv4(proto: Proto, address: string): string | undefined {
  if (address === ANY6) return proto === 'udp' ? address.slice(24) : undefined
  const digits = address.replace(MAPPED, '')
  return digits.length === 8 ? digits : undefined
}

/** The kernel prints the four bytes as a number of this machine: backwards on all that we run on. */
function dotted(hex: string): string {
  return [...Buffer.from(hex, 'hex')].reverse().join('.')
}

/** @param read a file of /proc as the agent's network has it; without IPv6 its lists are not there */
export async function listListeners(
  targets: NodeTargets,
  read: (path: string) => Promise<string | undefined>,
): Promise<Listener[]> {
  const lists = PROTOS.filter((proto) => targets[proto].length > 0).flatMap((proto) =>
    [proto, `${proto}6`].map(async (name) =>
      parseListeners(proto, (await read(`/proc/net/${name}`)) ?? '', new Set(targets[proto])),
    ),
  )
  return (await Promise.all(lists)).flat()
}
