import type { ActorKind } from '@postern/contract/history/history'
import type { Transaction } from 'kysely'
import type { Database } from '../db/schema.ts'

/** Who or what made a change, as it was called then. */
export interface Actor {
  kind: ActorKind
  /** The id of the account, token, node or edge; null for the installation itself. */
  id: number | null
  name: string
  /** The person whose token this is. */
  personId?: number
  /** From which address it was asked for; null where nobody asked. */
  address: string | null
  /** To whose share of the history it counts, where that is not the actor's, see `shares.ts`. */
  share?: string
  /** The revision that is taken back by what is done now. */
  undoes?: number
  /** In ms: what is done now is taken back after this time, unless a person keeps it. */
  takeBackIn?: number
  /**
   * Asked in the transaction of each change: while the work before it waited for others, rights may have been lost.
   * @throws UnauthenticatedError, ForbiddenError
   */
  requireRights?: (tx: Transaction<Database>) => Promise<void>
  /** Asked by a change that lets somebody in, see `ways-in.ts`. @throws ForbiddenError */
  requireRecent?: (tx: Transaction<Database>) => Promise<void>
}

/** @param address '' where nobody can tell */
export function personOf({ id, name }: { id: number; name: string }, address: string): Actor {
  return { kind: 'person', id, name, address: address || null }
}

/** The installation's own work, like a renewal. */
export const INSTALLATION: Actor = { kind: 'installation', id: null, name: 'postern', address: null }

/** What becomes of orders of certificates, which editors begin. */
export const ORDERS: Actor = { ...INSTALLATION, share: 'orders' }
