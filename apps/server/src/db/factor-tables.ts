import type { Generated } from 'kysely'
import type { Fixed, Json, Sealed, Time } from './columns.ts'

/** The authenticator app of an account, which has given a first code. */
export interface AuthenticatorsTable {
  user_id: Fixed<number>
  secret: Sealed
  /** The newest time step whose code was used, in half minutes since the epoch: a code works once. */
  last_step: number
  created_at: Fixed<Time>
  used_at: Time | null
}

export interface PasskeysTable {
  id: Generated<number>
  user_id: Fixed<number>
  name: string
  /** Its id, as the browser gives it, in base64url. */
  credential: Fixed<string>
  /** COSE, in base64url. */
  public_key: Fixed<string>
  /** Signatures that it has made, as it says; 0 for one that does not count. */
  counter: number
  /** string[]: how browsers reach it. */
  transports: Fixed<Json>
  /** The console's name at which it was made: it works at no other. */
  host: Fixed<string>
  /** 32 random bytes in base64url, the same for all of an account: what a passkey calls it. */
  user_handle: Fixed<string>
  created_at: Fixed<Time>
  used_at: Time | null
}

export interface RecoveryCodesTable {
  user_id: Fixed<number>
  /** SHA-256 in hex. */
  code_hash: Fixed<string>
}
