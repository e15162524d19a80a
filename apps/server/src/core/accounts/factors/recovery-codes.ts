import { LIMITS } from '@postern/contract/limits'
import type { Kysely } from 'kysely'
import type { Database } from '../../../db/schema.ts'
import { hashToken } from '../../secrets/secrets.ts'
import { toBase32 } from './totp.ts'

/** 80 bits, so that a plain hash keeps them. */
const CODE_BYTES = 10

/**
 * Replaces all recovery codes of an account.
 * @returns the codes, like `abcd-efgh-ijkl-mnop`, of which only hashes are stored
 */
export async function renewRecoveryCodes(
  db: Kysely<Database>,
  userId: number,
  randomBytes: (count: number) => Buffer,
): Promise<string[]> {
  const codes = Array.from({ length: LIMITS.recoveryCodes }, () => toBase32(randomBytes(CODE_BYTES)))
  await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await db
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ user_id: userId, code_hash: hashToken(code) })))
    .execute()
  return codes.map((code) => code.replace(/(.{4})(?=.)/g, '$1-'))
}

/** Uses one up. @param code without its dashes. @returns whether it was one of the account's */
export async function useRecoveryCode(db: Kysely<Database>, userId: number, code: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', hashToken(code))
    .executeTakeFirst()
  return numDeletedRows === 1n
}

export async function countRecoveryCodes(db: Kysely<Database>, userId: number): Promise<number> {
  const { count } = await db
    .selectFrom('recovery_codes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}
