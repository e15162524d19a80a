import type { Kysely } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { changeIfAny, nextTime, Unchanged } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { getPersonRow } from '../people/records.ts'
import { selectLiveTokens } from './live-tokens.ts'

/**
 * Inside the change that makes them suspect. Requests with them are refused from then on, and their streams end within
 * a second.
 * @returns how many
 */
export async function revokeTokensOf(tx: Kysely<Database>, userId: number, now: number): Promise<number> {
  const live = await selectLiveTokens(tx, now)
    .select(['id', 'updated_at'])
    .where('user_id', '=', userId)
    .execute()
  for (const { id, updated_at } of live)
    await tx
      .updateTable('api_tokens')
      .set({ revoked: 1, updated_at: nextTime(now, updated_at) })
      .where('id', '=', id)
      .execute()
  return live.length
}

/** For an administrator, who sees their number and not what they are called. @returns how many. @throws NotFoundError */
export async function endPersonTokens(
  context: Context,
  actor: Actor,
  id: number,
): Promise<{ ended: number }> {
  const note = { actor, what: 'API tokens ended' }
  const ended = await changeIfAny<number>(context, note, async (tx) => {
    const { username } = await getPersonRow(tx, id)
    const value = await revokeTokensOf(tx, id, context.clock())
    if (value === 0) throw new Unchanged(0)
    return { value, touched: { people: [id] }, name: username }
  })
  return { ended }
}
