import type { NodeTargets } from '@postern/contract/agent/agent'
import { formatIp } from '@postern/net/ip'

/** A program of this machine that listens on a port. */
export interface Listener {
  proto: Proto
  /** In its one spelling; an IPv4 address in the list of IPv6 counts as IPv4. */
  address: string
  port: number
  uid: number
}
export type Proto = keyof NodeTargets

export const PROTOS: readonly Proto[] = ['tcp', 'udp']
const LISTENING = '0A'

/** An IPv4 address in the list of IPv6, as Java's programs have. */
const MAPPED = /^0000000000000000FFFF0000/

/** The lines of /proc/net/tcp, /proc/net/udp and their IPv6 counterparts that have these ports. */
export function parseListeners(proto: Proto, text: string, ports: ReadonlySet<number>): Listener[] {
  return text.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , uid = ''] = line.trim().split(/\s+/)
    const [, found, hex = ''] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(local) ?? []
    const port = Number.parseInt(hex, 16)
    // A UDP socket that is connected to one visitor's address still takes that visitor's packets.
    if (!found || !ports.has(port) || (proto === 'tcp' && state !== LISTENING)) return []
    return [{ proto, address: spell(found.replace(MAPPED, '')), port, uid: Number(uid) }]
  })
}

/** The kernel prints each four bytes as a number in host order: reversed on all platforms that we support. */
function spell(hex: string): string {
  const bytes = hex.match(/.{8}/g)?.flatMap((word) => [...Buffer.from(word, 'hex')].reverse()) ?? []
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  return formatIp({ family: bytes.length === 4 ? 4 : 6, value })
}

/** @param read reads a file of /proc in the agent's network namespace; without IPv6 its lists do not exist */
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
