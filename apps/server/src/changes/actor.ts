import type { ActorKind } from '@postern/contract/history/history'

/** Who or what made a change, as it was called then. */
export interface Actor {
  kind: ActorKind
  /** Of the account, the node or the edge; null for the installation itself. */
  id: number | null
  name: string
  /** From which address it was asked for; null where nobody asked. */
  address: string | null
  /** The revision that is taken back by what is done now. */
  undoes?: number
  /** In ms: what is done now is taken back after this time, unless a person keeps it. */
  takeBackIn?: number
}

/** @param address '' where nobody can tell */
export function personOf({ id, name }: { id: number; name: string }, address: string): Actor {
  return { kind: 'person', id, name, address: address || null }
}

/** The installation's own work, like a renewal. */
export const INSTALLATION: Actor = { kind: 'installation', id: null, name: 'postern', address: null }
