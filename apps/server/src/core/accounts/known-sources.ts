import type { Context } from '../../context.ts'
import type { Source } from './source-network.ts'

/** For each account, the newest ones. */
const MAX_PER_ACCOUNT = 50

/** Whether this account has signed in from there before. This machine is always known. */
export async function isKnownSource(context: Context, username: string, source: Source): Promise<boolean> {
  if (source.isLocal) return true
  const row = await context.db
    .selectFrom('sign_in_networks')
    .innerJoin('users', 'users.id', 'sign_in_networks.user_id')
    .select('network')
    .where('users.username', '=', username)
    .where('network', '=', source.network)
    .executeTakeFirst()
  return row !== undefined
}

/** Remembers it for good, until fifty others are newer. */
export async function rememberSource(context: Context, userId: number, source: Source): Promise<void> {
  if (source.isLocal) return
  const last_at = context.clock()
  await context.db.transaction().execute(async (tx) => {
    await tx
      .insertInto('sign_in_networks')
      .values({ user_id: userId, network: source.network, last_at })
      .onConflict((conflict) => conflict.columns(['user_id', 'network']).doUpdateSet({ last_at }))
      .execute()
    const newest = tx
      .selectFrom('sign_in_networks')
      .select('network')
      .where('user_id', '=', userId)
      .orderBy('last_at', 'desc')
      .limit(MAX_PER_ACCOUNT)
    await tx
      .deleteFrom('sign_in_networks')
      .where('user_id', '=', userId)
      .where('network', 'not in', newest)
      .execute()
  })
}
