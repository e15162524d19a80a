import { FOUNDING_EDGE } from '@postern/net/tunnel-addresses'
import type { Kysely } from 'kysely'
import { bracketed, type ServerConfig } from '../../config.ts'
import type { Database } from '../../db/schema.ts'
import { edgeAddress4 } from '../tunnel/addresses.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'

/** Where nodes find an edge: its end of the tunnel. */
export interface EdgeEnd {
  id: number
  /** 1: the edge beside the server. */
  number: number
  name: string
  publicKey: string
  /** `host:port`, an IPv6 address in brackets. */
  endpoint: string
  /**
   * Its addresses in the tunnel, without prefix; null for the edge beside the server, which has .1 of each /24, and
   * there the whole networks.
   */
  addresses: { address4: string; address6: string } | null
}

interface Parts {
  db: Kysely<Database>
  tunnel: Pick<Tunnel, 'publicKey' | 'network4' | 'address6'>
  config: Pick<ServerConfig, 'settings' | 'publicHost'>
}

/** The edges that have joined, by number: the one beside the server first. */
export async function listEnds({ db, tunnel, config }: Parts): Promise<EdgeEnd[]> {
  const rows = await db
    .selectFrom('edges')
    .select(['id', 'number', 'name', 'public_key', 'host', 'tunnel_port'])
    .where('joined_at', 'is not', null)
    .orderBy('number')
    .execute()
  return rows.map(({ id, number, name, public_key, host, tunnel_port }) => {
    const port = tunnel_port ?? config.settings.POSTERN_TUNNEL_PORT
    const endpoint = `${bracketed(host ?? config.publicHost)}:${port}`
    const own = { id, number, name, endpoint }
    if (number === FOUNDING_EDGE) return { ...own, publicKey: tunnel.publicKey, addresses: null }
    const address4 = edgeAddress4(tunnel.network4, number)
    return {
      ...own,
      publicKey: public_key ?? '',
      addresses: { address4, address6: tunnel.address6(address4) },
    }
  })
}
