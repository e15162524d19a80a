import { parseCidr } from '@postern/net/cidr'
import { findIp, formatIp } from '@postern/net/ip'
import { findNodeFault } from '@postern/net/targets'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'
import { ConflictError } from '../errors.ts'

/** Gives addresses, the lowest free one first. */
export interface AddressBook {
  /** @throws ConflictError when the network is full */
  next(db: Kysely<Database>): Promise<string>
  /** An address that a node had may be given again. */
  release(address4: string): void
}

/** How many /24 a /16 has. */
const BLOCKS = 256

/** Remembers below which /24 nothing is free, so that it need not look at all nodes again for each new one. */
export function createAddressBook(network4: string): AddressBook {
  const network = network4.split('.').slice(0, 2).join('.')
  let first = 0
  const findFrom = async (db: Kysely<Database>, start: number) => {
    for (let block = start; block < BLOCKS; block++) {
      const free = await findFreeIn(db, `${network}.${block}.`)
      if (free === undefined) continue
      first = block
      return free
    }
    return undefined
  }
  return {
    async next(db) {
      const free = (await findFrom(db, first)) ?? (await findFrom(db, 0))
      if (free === undefined) throw new ConflictError('The tunnel network has no free address left')
      return free
    },
    release(address4) {
      const block = Number(address4.split('.')[2])
      if (block < first) first = block
    },
  }
}

/** @param prefix of a /24, like `10.64.3.` */
async function findFreeIn(db: Kysely<Database>, prefix: string): Promise<string | undefined> {
  const rows = await db
    .selectFrom('nodes')
    .select('address')
    .where('address', '>=', prefix)
    // The character after the point, so that the index finds just those that begin with the prefix.
    .where('address', '<', prefix.replace(/\.$/, '/'))
    .execute()
  const taken = new Set(rows.map(({ address }) => address))
  for (let last = FIRST_HOST; last <= LAST_HOST; last++)
    if (!taken.has(`${prefix}${last}`)) return `${prefix}${last}`
  return undefined
}

/** In every /24 .0, .1 and .255 are reserved. */
const FIRST_HOST = 2
const LAST_HOST = 254

/** Why a typed IPv4 address cannot be a node's, or undefined. */
export function findAddressProblem(network4: string, address4: string): string | undefined {
  const ip = findIp(address4)
  const fault = ip ? findNodeFault(ip, [parseCidr(network4)]) : 'notInTunnel'
  if (fault === 'notInTunnel') return `must be inside the tunnel network ${network4}`
  return fault ? 'must not end in .0, .1 or .255, which are reserved' : undefined
}

/** A node's IPv6 address: its IPv4 one in the last 32 bits of the installation's /64. */
export function address6Of(network6: string, address4: string): string {
  const { base } = parseCidr(network6)
  const ip = findIp(address4)
  if (ip?.family !== 4) throw new TypeError('not an IPv4 address')
  return formatIp({ family: 6, value: base.value | ip.value })
}

/** The edge's address as a node sees it: .1 of the node's /24. */
export function edgeAddressOf(address4: string): string {
  return `${address4.split('.').slice(0, 3).join('.')}.1`
}

/** A /64 of unique local addresses (RFC 4193); `random` are 5 random bytes. */
export function createNetwork6(random: Buffer): string {
  const [a, b, c, d, e] = [...random].map((byte) => byte.toString(16).padStart(2, '0'))
  return `fd${a}:${b}${c}:${d}${e}::/64`
}
