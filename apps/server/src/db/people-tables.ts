import type { Role } from '@postern/contract/sign-in/auth'
import type { Generated } from 'kysely'
import type { Dated, Fixed, Flag, Time } from './columns.ts'

export interface UsersTable extends Dated {
  id: Generated<number>
  username: string
  /** Null for a person who has no password. */
  password_hash: string | null
  role: Role
  /** Whether `user_nodes` and `user_domains` have all that the person may see; never for an admin. */
  is_limited: Generated<Flag>
  is_disabled: Generated<Flag>
  /** A sign-in at a provider made it, and only that provider's rules give its role, until an administrator's link. */
  is_made: Generated<Flag>
  /** ms since the epoch; null: never, or before this was kept. */
  last_sign_in_at: number | null
}

export interface UserNodesTable {
  user_id: Fixed<number>
  node_id: Fixed<number>
}

export interface UserDomainsTable {
  user_id: Fixed<number>
  domain_id: Fixed<number>
}

export interface SessionsTable {
  id: Generated<number>
  /** SHA-256 of the token in hex. */
  token_hash: Fixed<string>
  /** SHA-256 of the key that it is bound to, in hex; null for a client that has none. */
  key_hash: Fixed<string | null>
  user_id: Fixed<number>
  /** The name at which it began; '' for an address and for this machine itself. */
  host: Fixed<string>
  /** In plain words; '' when it could not be told. */
  browser: Generated<string>
  /** The provider by which it was begun; null: by a password or a passkey alone. */
  provider_id: Fixed<number | null>
  /** Where it was last used from, and when in ms since the epoch, to the minute. */
  address: string | null
  last_used_at: Generated<number>
  /** ms since the epoch. */
  expires_at: number
  created_at: Fixed<Time>
}

/** The one link that a person has not used yet. It stays after its end, so that the list can say so. */
export interface InvitesTable {
  user_id: number
  /** SHA-256 of the token in hex. */
  token_hash: string
  /** For a person who was in before. */
  is_reset: Flag
  /** ms since the epoch. */
  expires_at: number
}

/** Tickets that have opened a session, and would have been good for longer. */
export interface UsedTicketsTable {
  id: Fixed<string>
  /** ms since the epoch. */
  until: Fixed<number>
}
