import type { Role } from '@postern/contract/sign-in/auth'
import type { Generated } from 'kysely'
import type { Dated, Fixed, Flag, Time } from './columns.ts'

export interface ApiTokensTable extends Dated {
  id: Generated<number>
  user_id: Fixed<number>
  name: Fixed<string>
  /** SHA-256 of the token in hex. */
  token_hash: Fixed<string>
  role: Fixed<Role>
  /** Whether `api_token_nodes` and `api_token_domains` have all that it is good for; never for an admin's role. */
  is_limited: Fixed<Flag>
  expire_at: Fixed<Time>
  revoked: Generated<Flag>
}

export interface ApiTokenNodesTable {
  token_id: Fixed<number>
  node_id: Fixed<number>
}

export interface ApiTokenDomainsTable {
  token_id: Fixed<number>
  domain_id: Fixed<number>
}
