import { findIp, formatIp } from '@postern/net/ip'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'

/** How a request came in: its address, and whether it came by HAProxy, which says the address. */
export interface Arrival {
  /** Empty for a request through a socket that names none. */
  address: string
  isBehindProxy: boolean
}

/** Where a request comes from: an IPv4 address, the /64 of an IPv6 one, this machine, or one of our sockets. */
export interface Source {
  /** The one name of all its addresses. */
  network: string
  /**
   * What needs no sign-in before to be known: the console's socket, which is root's alone, and its port on this
   * machine. By way of HAProxy a loopback address is one like any other.
   */
  own: 'socket' | 'port' | null
  /** For an IPv6 address, all its bits. */
  value?: bigint
}

/** Every local user has all of these addresses. */
const THIS_MACHINE = '127.0.0.0/8'

export function sourceOf({ address, isBehindProxy }: Arrival): Source {
  const ip = findIp(address.replace(/^::ffff:(?=\d+\.)/i, ''))
  if (!ip)
    return isBehindProxy ? { network: 'server.sock', own: null } : { network: 'console.sock', own: 'socket' }
  if (ip.family === 4 ? ip.value >> 24n === 127n : ip.value === 1n)
    return { network: THIS_MACHINE, own: isBehindProxy ? null : 'port' }
  if (ip.family === 4) return { network: formatIp(ip), own: null }
  // One household has a whole /64, so that counts as one.
  return { network: networkOf(ip.value, 64), own: null, value: ip.value }
}

/** Around an IPv6 source. */
export interface WiderNetwork {
  prefix: 56 | 48
  network: string
}

/** The widest last. */
export function widerNetworksOf({ value }: Source): WiderNetwork[] {
  if (value === undefined) return []
  return ([56, 48] as const).map((prefix) => ({ prefix, network: networkOf(value, prefix) }))
}

function networkOf(value: bigint, prefix: number): string {
  const rest = BigInt(128 - prefix)
  return formatIp({ family: 6, value: (value >> rest) << rest })
}

interface Parts {
  db: Kysely<Database>
  clock(): number
}

/** How many sources to remember for each account. */
const MAX_PER_ACCOUNT = 50

/** Whether this account has signed in from there before, or it is an entrance of this machine's own. */
export async function isKnownSource(
  { db }: Pick<Parts, 'db'>,
  username: string,
  source: Source,
): Promise<boolean> {
  if (source.own !== null) return true
  const row = await db
    .selectFrom('sign_in_networks')
    .innerJoin('users', 'users.id', 'sign_in_networks.user_id')
    .select('network')
    .where('users.username', '=', username)
    .where('network', '=', source.network)
    .executeTakeFirst()
  return row !== undefined
}

/** Remembers it until fifty others are newer. */
export async function rememberSource({ db, clock }: Parts, userId: number, source: Source): Promise<void> {
  if (source.own !== null) return
  const last_at = clock()
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('sign_in_networks')
      .values({ user_id: userId, network: source.network, last_at })
      .onConflict((conflict) => conflict.columns(['user_id', 'network']).doUpdateSet({ last_at }))
      .execute()
    const newest = tx
      .selectFrom('sign_in_networks')
      .select('network')
      .where('user_id', '=', userId)
      .orderBy('last_at', 'desc')
      .limit(MAX_PER_ACCOUNT)
    await tx
      .deleteFrom('sign_in_networks')
      .where('user_id', '=', userId)
      .where('network', 'not in', newest)
      .execute()
  })
}
