import type { Role } from '@postern/contract/sign-in/auth'
import type { Generated } from 'kysely'
import type { Dated, Fixed, Flag } from './columns.ts'

export interface UsersTable extends Dated {
  id: Generated<number>
  username: string
  /** Null for a person who has no password. */
  password_hash: string | null
  role: Role
  /** Whether `user_nodes` and `user_domains` have all that the person may see; never for an admin. */
  is_limited: Generated<Flag>
  is_disabled: Generated<Flag>
}

export interface UserNodesTable {
  user_id: Fixed<number>
  node_id: Fixed<number>
}

export interface UserDomainsTable {
  user_id: Fixed<number>
  domain_id: Fixed<number>
}
