import type { Generated } from 'kysely'
import type { Fixed, Flag, Json, Sealed, Time } from './columns.ts'

export interface EdgesTable {
  id: Generated<number>
  name: string
  /** SHA-256 of the token in hex, of the edge beside the server; of an edge elsewhere a value that no token has. */
  token_hash: string
  created_at: Fixed<Time>
  /** 1: the edge beside the server. */
  number: Generated<number>
  place: string | null
  /** Where nodes reach it; null: the installation's public host. */
  host: string | null
  /** Null: POSTERN_TUNNEL_PORT. */
  tunnel_port: number | null
  /** Its WireGuard keys, the private one sealed; null for number 1, whose key is a setting, and before it has joined. */
  private_key: Sealed | null
  public_key: string | null
  /** SHA-256 in hex of the public key (SPKI) of its certificate; null: it has not joined. */
  certificate_key: string | null
  certificate_until: Time | null
  /** Those of its machine, as a list of texts. */
  addresses: Generated<Json>
  is_console: Generated<Flag>
  is_drained: Generated<Flag>
  joined_at: Time | null
  updated_at: Generated<Time>
}

export interface JoinTokensTable {
  /** SHA-256 of the token in hex. */
  hash: string
  edge_id: number
  expires_at: Time
}
