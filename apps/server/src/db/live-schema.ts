import type { Flag } from './columns.ts'

/** The second file: figures that may be lost. */
export interface LiveDatabase {
  figures: {
    node_id: number
    /** ms since the epoch. */
    latest_handshake: number | null
    rx: number
    tx: number
    client_ip: string | null
    reachable: Flag
  }
  /** What came in and is not packed yet. */
  counts: {
    /** Its id, or the key of a node (`nodeKey`), in all three tables. */
    service: number
    /** Since the epoch, as all times of these tables. */
    minute: number
    connections: number
    received: number
    sent: number
  }
  minutes: { hour: number; service: number; packed: Uint8Array }
  hours: { day: number; service: number; packed: Uint8Array }
  /** Up to where an edge's counts are in the tables. */
  ledgers: { edge_id: number; ledger: string; seq: number }
  /** When an access token of a node was last used, in ms since the epoch, and from which IP address. */
  token_uses: { token_id: number; used_at: number; used_from: string | null }
}
