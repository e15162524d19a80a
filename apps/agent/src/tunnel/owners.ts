import type { NodeTargets } from '@postern/contract/agent/agent'
import type { TakenPort } from '@postern/contract/agent/agent-report'
import { findIp, formatIp } from '@postern/net/ip'
import { type Listener, PROTOS, type Proto } from './listeners.ts'

/**
 * Ports for which the kernel must not choose between the tunnel's address and 127.0.0.1, because another user listens
 * too.
 */
export interface Held {
  /** They lead to 127.0.0.1, whoever listens on the tunnel's address. */
  loopback: NodeTargets
  /** They lead to the tunnel's address, whoever listens on 127.0.0.1. */
  tunnel: NodeTargets
  /** They are not reachable over IPv6, on which their owner's programs do not listen. */
  ipv4: NodeTargets
}
type Place = 'loopback' | 'tunnel'

interface Owner {
  uid: number
  place: Place
  /** Its programs, or root's, get the IPv6 traffic. */
  takesIpv6: boolean
  /** Users that came later, who do not get the port by waiting. */
  others: readonly number[]
}

const ROOT = 0
const LOOPBACK = '127.0.0.1'
const EVERYWHERE = '0.0.0.0'
const EVERYWHERE6 = '::'

/** The previous agent's state in the kernel. */
export interface Before {
  held: Held
  published: NodeTargets
}

/**
 * Decides which user owns each published port. Any user may listen on the tunnel's address or on 127.0.0.1 above port
 * 1023: a port belongs to root, or to the user that was seen there first, until its programs are gone. This also
 * lasts while the port is not published, so that waiting for that gains nothing.
 */
export function createOwners() {
  let owners: Record<Proto, Map<number, Owner>> = { tcp: new Map(), udp: new Map() }

  /** The published ports, and those with a known owner. */
  function watched(targets: NodeTargets): NodeTargets {
    const all = (proto: Proto) => [...new Set([...targets[proto], ...owners[proto].keys()])]
    return { tcp: all('tcp'), udp: all('udp') }
  }

  return {
    watched,
    /**
     * @param listeners on the watched ports
     * @param own the node's addresses in the tunnel
     */
    look(targets: NodeTargets, listeners: readonly Listener[], own: readonly string[], before?: Before) {
      const next: typeof owners = { tcp: new Map(), udp: new Map() }
      const held: Held = {
        loopback: { tcp: [], udp: [] },
        tunnel: { tcp: [], udp: [] },
        ipv4: { tcp: [], udp: [] },
      }
      const taken: TakenPort[] = []
      const ports = watched(targets)
      for (const proto of PROTOS) {
        const published = new Set(targets[proto])
        for (const port of ports[proto]) {
          const seats = seatsOf(listeners, proto, port, own)
          const owner = ownerOf(owners[proto].get(port), seats, placeOf(before, proto, port))
          if (!owner) continue
          next[proto].set(port, owner)
          if (!published.has(port)) continue
          const place = leadOf(owner, seats)
          if (place) held[place][proto].push(port)
          if (!owner.takesIpv6) held.ipv4[proto].push(port)
          taken.push(...listOthers(owner, seats, proto, port))
        }
      }
      owners = next
      return { held, taken }
    },
  }
}

/**
 * The users whose programs listen on the tunnel's address, on 127.0.0.1, on all addresses, and those that IPv6 leads
 * to.
 */
interface Seats {
  tunnel: readonly number[]
  loopback: readonly number[]
  everywhere: readonly number[]
  ipv6: readonly number[]
}

/**
 * No TCP socket can share a port with one for all addresses of both families, so one that has another beside it takes
 * only IPv6; for UDP it may take both.
 */
function seatsOf(all: readonly Listener[], proto: Proto, port: number, own: readonly string[]): Seats {
  const here = all.filter((one) => one.proto === proto && one.port === port)
  const at = (addresses: readonly string[]) =>
    here.filter(({ address }) => addresses.includes(address)).map(({ uid }) => uid)
  const ips = own.flatMap((address) => findIp(address) ?? [])
  const ownOf = (family: 4 | 6) => ips.filter((ip) => ip.family === family).map(formatIp)
  return {
    tunnel: at(ownOf(4)),
    loopback: at([LOOPBACK]),
    everywhere: at(proto === 'udp' ? [EVERYWHERE, EVERYWHERE6] : [EVERYWHERE]),
    ipv6: at([EVERYWHERE6, ...ownOf(6)]),
  }
}

/** A program that is alone on 127.0.0.1 is held there; otherwise it was reached at the tunnel's address. */
function placeOf(before: Before | undefined, proto: Proto, port: number): Place | undefined {
  if (before?.held.loopback[proto].includes(port)) return 'loopback'
  return before?.published[proto].includes(port) ? 'tunnel' : undefined
}

function ownerOf(last: Owner | undefined, seats: Seats, before: Place | undefined): Owner | undefined {
  const { tunnel, loopback, everywhere } = seats
  const order =
    before === 'tunnel' ? [...tunnel, ...everywhere, ...loopback] : [...loopback, ...everywhere, ...tunnel]
  if (order.length === 0) return seats.ipv6.length > 0 ? last : undefined
  const entitled = order.filter((uid) => !last?.others.includes(uid))
  if (last && entitled.length === 0 && !order.includes(ROOT)) return last
  const stays = last && order.includes(last.uid) ? last.uid : (entitled[0] ?? ROOT)
  const uid = order.includes(ROOT) ? ROOT : stays
  const place = tunnel.includes(uid) ? 'tunnel' : 'loopback'
  const isTheirs = (one: number) => one === uid || one === ROOT
  const takesIpv6 = order.includes(uid)
    ? seats.ipv6.some(isTheirs) && seats.ipv6.every(isTheirs)
    : (last?.takesIpv6 ?? false)
  return { uid, place, takesIpv6, others: order.filter((one) => one !== uid) }
}

function leadOf({ uid, place }: Owner, { tunnel, loopback, everywhere }: Seats): Place | undefined {
  const isOther = (one: number) => one !== uid
  const isAway = ![...tunnel, ...loopback, ...everywhere].includes(uid)
  if (isAway) return place
  if (tunnel.includes(uid)) return loopback.some(isOther) ? 'tunnel' : undefined
  if (loopback.includes(uid)) return 'loopback'
  if (loopback.some(isOther)) return 'tunnel'
  return tunnel.some(isOther) ? 'loopback' : undefined
}

function listOthers({ uid }: Owner, seats: Seats, proto: Proto, port: number): TakenPort[] {
  const at = { tunnel: [...seats.tunnel, ...seats.ipv6], loopback: seats.loopback }
  return (['tunnel', 'loopback'] as const).flatMap((place) => {
    const user = at[place].find((one) => one !== uid && one !== ROOT)
    return user === undefined ? [] : [{ proto, port, place, user, owner: uid }]
  })
}

export function describeTaken({ proto, port, place, user, owner }: TakenPort): string {
  const where = place === 'tunnel' ? "at the tunnel's address" : 'on 127.0.0.1'
  return (
    `A program of user ${user} holds ${proto.toUpperCase()} port ${port} ${where}. ` +
    `What is published stays with the program of ${owner === ROOT ? 'root' : `user ${owner}`}`
  )
}
