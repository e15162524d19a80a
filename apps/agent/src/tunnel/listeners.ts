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

/** The lines of /proc/net/tcp or /proc/net/udp that are about these ports. */
export function parseListeners(proto: Proto, text: string, ports: ReadonlySet<number>): Listener[] {
  return text.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , uid = ''] = line.trim().split(/\s+/)
    const [, address, hex = ''] = /^([0-9A-F]{8}):([0-9A-F]{4})$/.exec(local) ?? []
    const port = Number.parseInt(hex, 16)
    // A UDP socket that is bound to one visitor's address takes his packets all the same.
    if (address === undefined || !ports.has(port) || (proto === 'tcp' && state !== LISTENING)) return []
    return [{ proto, address: dotted(address), port, uid: Number(uid) }]
  })
}

/** The kernel prints the four bytes as a number of this machine: backwards on all that we run on. */
function dotted(hex: string): string {
  return [...Buffer.from(hex, 'hex')].reverse().join('.')
}

/** @param read a file of /proc as the agent's network has it */
export async function listListeners(
  targets: NodeTargets,
  read: (path: string) => Promise<string | undefined>,
): Promise<Listener[]> {
  const lists = PROTOS.filter((proto) => targets[proto].length > 0).map(async (proto) =>
    parseListeners(proto, (await read(`/proc/net/${proto}`)) ?? '', new Set(targets[proto])),
  )
  return (await Promise.all(lists)).flat()
}
