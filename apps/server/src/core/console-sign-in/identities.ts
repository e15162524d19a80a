import type { Kysely, Transaction } from 'kysely'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { ConflictError } from '../errors.ts'
import type { Arrived } from './logins.ts'

type Tx = Transaction<Database>

/** Accounts at providers that one person may connect: nobody has more. */
const MOST = 20

/** The person here who is connected with an account at a provider. */
export function findConnected(db: Kysely<Database>, { provider, issuer, subject }: Arrived) {
  return db
    .selectFrom('user_identities')
    .innerJoin('users', 'users.id', 'user_identities.user_id')
    .select(['user_identities.id', 'user_identities.is_made_by_sign_in'])
    .select(['users.id as user_id', 'users.username', 'users.role', 'users.is_disabled', 'users.updated_at'])
    .where('provider_id', '=', provider)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
}

/** @throws ConflictError when somebody else has it already, or the person has too many */
export async function connect(
  { clock }: Pick<Context, 'clock'>,
  tx: Tx,
  userId: number,
  arrived: Arrived,
  isMade = false,
): Promise<void> {
  const held = await tx.selectFrom('user_identities').select('id').where('user_id', '=', userId).execute()
  if (held.length >= MOST)
    throw new ConflictError(
      `You have connected ${held.length} accounts, which is the limit. Remove one first.`,
    )
  await tx
    .insertInto('user_identities')
    .values({
      user_id: userId,
      provider_id: arrived.provider,
      ...{ issuer: arrived.issuer, subject: arrived.subject, email: arrived.email },
      is_made_by_sign_in: flag(isMade),
      created_at: new Date(clock()).toISOString(),
      last_used_at: null,
    })
    .execute()
}

export function connectedElsewhere(provider: string): ConflictError {
  return new ConflictError(`Somebody else here is connected with this account at ${provider}.`)
}

/** Shown under *Account*; it is no change of anything. */
export async function noteUse({ db, clock }: Context, arrived: Arrived): Promise<void> {
  const { provider, issuer, subject, email } = arrived
  await db
    .updateTable('user_identities')
    .set({ email, last_used_at: new Date(clock()).toISOString() })
    .where('provider_id', '=', provider)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .execute()
}
