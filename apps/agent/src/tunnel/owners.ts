import type { NodeTargets } from '@postern/contract/agent'
import type { TakenPort } from '@postern/contract/agent-report'
import { type Listener, PROTOS, type Proto } from './listeners.ts'

/** Ports at which the kernel does not choose between the tunnel's address and 127.0.0.1, because another user waits. */
export interface Held {
  /** They lead to 127.0.0.1, whoever listens at the tunnel's address. */
  loopback: NodeTargets
  /** They stay at the tunnel's address, whoever listens on 127.0.0.1. */
  tunnel: NodeTargets
}

interface Owner {
  uid: number
  place: keyof Held
  /** Users that came later, and gain nothing by waiting. */
  others: readonly number[]
}

const ROOT = 0
const LOOPBACK = '127.0.0.1'
const EVERYWHERE = '0.0.0.0'

/** What the previous agent left in the kernel. */
export interface Before {
  held: Held
  published: NodeTargets
}

/**
 * To whom the published ports belong. Any user may listen at the tunnel's address or on 127.0.0.1 above port 1023: a
 * port belongs to the user that was seen there first, until its programs are gone, or to root. That lasts while the
 * port is not published, so that nobody gains by waiting for that.
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
     * @param listeners at the ports that are watched
     * @param own the addresses of the tunnel here
     */
    look(targets: NodeTargets, listeners: readonly Listener[], own: readonly string[], before?: Before) {
      const next: typeof owners = { tcp: new Map(), udp: new Map() }
      const held: Held = { loopback: { tcp: [], udp: [] }, tunnel: { tcp: [], udp: [] } }
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
          taken.push(...listOthers(owner, seats, proto, port))
        }
      }
      owners = next
      return { held, taken }
    },
  }
}

/** The users whose programs listen at the tunnel's address, on 127.0.0.1, and at all addresses. */
interface Seats {
  tunnel: readonly number[]
  loopback: readonly number[]
  everywhere: readonly number[]
}

function seatsOf(all: readonly Listener[], proto: Proto, port: number, own: readonly string[]): Seats {
  const here = all.filter((one) => one.proto === proto && one.port === port)
  const at = (addresses: readonly string[]) =>
    here.filter(({ address }) => addresses.includes(address)).map(({ uid }) => uid)
  return { tunnel: at(own), loopback: at([LOOPBACK]), everywhere: at([EVERYWHERE]) }
}

/** A program that is alone on 127.0.0.1 is held there: without that, what was taken was taken at the tunnel's address. */
function placeOf(before: Before | undefined, proto: Proto, port: number): keyof Held | undefined {
  if (before?.held.loopback[proto].includes(port)) return 'loopback'
  return before?.published[proto].includes(port) ? 'tunnel' : undefined
}

function ownerOf(last: Owner | undefined, seats: Seats, before: keyof Held | undefined): Owner | undefined {
  const { tunnel, loopback, everywhere } = seats
  const order =
    before === 'tunnel' ? [...tunnel, ...everywhere, ...loopback] : [...loopback, ...everywhere, ...tunnel]
  if (order.length === 0) return undefined
  const entitled = order.filter((uid) => !last?.others.includes(uid))
  if (last && entitled.length === 0 && !order.includes(ROOT)) return last
  const stays = last && order.includes(last.uid) ? last.uid : (entitled[0] ?? ROOT)
  const uid = order.includes(ROOT) ? ROOT : stays
  const place = tunnel.includes(uid) ? 'tunnel' : 'loopback'
  return { uid, place, others: order.filter((one) => one !== uid) }
}

function leadOf({ uid, place }: Owner, { tunnel, loopback, everywhere }: Seats): keyof Held | undefined {
  const isOther = (one: number) => one !== uid
  const isAway = ![...tunnel, ...loopback, ...everywhere].includes(uid)
  if (isAway) return place
  if (tunnel.includes(uid)) return loopback.some(isOther) ? 'tunnel' : undefined
  if (loopback.includes(uid)) return 'loopback'
  if (loopback.some(isOther)) return 'tunnel'
  return tunnel.some(isOther) ? 'loopback' : undefined
}

function listOthers({ uid }: Owner, seats: Seats, proto: Proto, port: number): TakenPort[] {
  return (['tunnel', 'loopback'] as const).flatMap((place) => {
    const user = seats[place].find((one) => one !== uid && one !== ROOT)
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
