import type { Generated } from 'kysely'
import type { Dated, Fixed, Flag, Json, Sealed, Time } from './columns.ts'

/** The providers with which people sign in to the console. */
export interface ConsoleProvidersTable extends Dated {
  id: Generated<number>
  name: string
  /** As a person typed it, like the setting `POSTERN_OIDC_ISSUER`. */
  issuer: string
  client_id: string
  client_secret: Sealed
  /** Whether somebody gets an account at the first sign-in, where a rule gives a role. */
  is_making_accounts: Flag
  /** RoleRule[] */
  rules: Json
}

/** The accounts at providers with which people sign in. */
export interface UserIdentitiesTable {
  id: Generated<number>
  user_id: Fixed<number>
  provider_id: Fixed<number>
  /** As the provider calls itself, and its name for the account, which never becomes another's. */
  issuer: Fixed<string>
  subject: Fixed<string>
  /** As the provider last said, whether it has verified it or not. */
  email: string | null
  /** Whether the account here was made by it: then it gets its role anew with each sign-in. */
  is_made_by_sign_in: Fixed<Flag>
  created_at: Fixed<Time>
  last_used_at: Time | null
}

/** One row: the person who alone may use a password; null: everybody may. */
export interface PasswordRuleTable {
  id: Fixed<1>
  user_id: number | null
}
