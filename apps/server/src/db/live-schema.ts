import type { Flag } from './columns.ts'

interface TokenUsesTable {
  token_id: number
  used_at: number
  used_from: string | null
}

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
  /** New counts that are not packed yet. */
  counts: {
    /** Its id, or the key of what it is counted for as well (`core/figures/keys.ts`), in all three tables. */
    service: number
    /** Since the epoch, as all times of these tables. */
    minute: number
    connections: number
    received: number
    sent: number
    /** Errors and the buckets of answers (`core/figures/pack.ts`), as JSON; null where nothing was answered. */
    answers: string | null
  }
  minutes: { hour: number; service: number; packed: Uint8Array }
  hours: { day: number; service: number; packed: Uint8Array }
  /** Up to which number an edge's counts are in the tables. */
  ledgers: { edge_id: number; ledger: string; seq: number }
  /** When an access token of a node was last used, in ms since the epoch, and from which IP address. */
  token_uses: TokenUsesTable
  /** The same for the tokens of programs. */
  api_token_uses: TokenUsesTable
}
