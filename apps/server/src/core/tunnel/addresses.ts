import { parseCidr } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { findNodeFault } from '@postern/net/targets'
import { address6For, EDGE_BLOCK, numberedAddressOf } from '@postern/net/tunnel-addresses'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ConflictError } from '../errors.ts'

/** Assigns addresses, lowest free one first. */
export interface AddressBook {
  /** @throws ConflictError when the network is full */
  next(db: Kysely<Database>): Promise<string>
  /** Makes a node's former address available again. */
  release(address4: string): void
}

/** In every /24 .0, .1 and .255 are reserved. */
const FIRST_HOST = 2
const HOSTS = 253
/** How many addresses of the whole /16 new nodes can get; those of the last block are the edges'. */
export const PLACES = EDGE_BLOCK * HOSTS
/** How many addresses are looked up in one statement, at first and at most. */
const FEW = 8
const MANY = 1024

/**
 * Remembers below which address none is free, so that a new node takes a look at only a few, however many there are.
 */
export function createAddressBook(network4: string): AddressBook {
  const network = network4.split('.').slice(0, 2).join('.')
  let first = 0
  return {
    async next(db) {
      for (let count = FEW; first < PLACES; count = Math.min(2 * count, MANY)) {
        const free = await findFree(db, network, first, count)
        first = free ?? first + count
        if (free !== undefined) return addressAt(network, free)
      }
      throw new ConflictError('The tunnel network has no free address left')
    },
    release(address4) {
      const [, , block, host] = address4.split('.').map(Number)
      first = Math.min(first, (block ?? 0) * HOSTS + (host ?? 0) - FIRST_HOST)
    },
  }
}

function addressAt(network: string, place: number): string {
  return `${network}.${Math.floor(place / HOSTS)}.${FIRST_HOST + (place % HOSTS)}`
}

/** @returns the first of these that no node has */
async function findFree(
  db: Kysely<Database>,
  network: string,
  first: number,
  count: number,
): Promise<number | undefined> {
  const places = Array.from({ length: Math.min(count, PLACES - first) }, (_, index) => first + index)
  const addresses = places.map((place) => addressAt(network, place))
  const rows = await db.selectFrom('nodes').select('address').where('address', 'in', addresses).execute()
  const taken = new Set(rows.map(({ address }) => address))
  return places.find((_, index) => !taken.has(addresses[index] ?? ''))
}

/** Why a typed IPv4 address cannot be a node's, or undefined. */
export function findAddressProblem(network4: string, address4: string): string | undefined {
  const ip = findIp(address4)
  const fault = ip ? findNodeFault(ip, [parseCidr(network4)]) : 'notInTunnel'
  if (fault === 'notInTunnel') return `must be inside the tunnel network ${network4}`
  if (isOfEdges(address4)) return `must not be in ${edgesBlock(network4)}, which edges have`
  return fault ? 'must not end in .0, .1 or .255, which are reserved' : undefined
}

/** The network of the addresses of edges, CIDR. */
export function edgesBlock(network4: string): string {
  return `${edgeAddress4(network4, 0)}/24`
}

/** The address in the tunnel of an edge elsewhere, whose number is at least 2. */
export function edgeAddress4(network4: string, number: number): string {
  return formatIp(numberedAddressOf(number, parseCidr(network4)))
}

/** Whether an address of the tunnel is one that only edges have. */
export function isOfEdges(address4: string): boolean {
  return Number(address4.split('.')[2]) === EDGE_BLOCK
}

/** A node's IPv6 address: its IPv4 one in the last 32 bits of the installation's /64. */
export function address6Of(network6: string, address4: string): string {
  const network = parseCidr(network6)
  const ip = findIp(address4)
  if (ip?.family !== 4) throw new TypeError('not an IPv4 address')
  return formatIp(address6For(network, ip))
}

/** A /64 of unique local addresses (RFC 4193); `random` are 5 random bytes. */
export function createNetwork6(random: Buffer): string {
  const [a, b, c, d, e] = [...random].map((byte) => byte.toString(16).padStart(2, '0'))
  return `fd${a}:${b}${c}:${d}${e}::/64`
}
