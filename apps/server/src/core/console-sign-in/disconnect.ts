import type { Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { changeIfAny, Unchanged } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { hasWayIn } from '../accounts/password-rule.ts'
import { type Session, takeSessions, tellEnded } from '../accounts/sessions.ts'
import { ConflictError } from '../errors.ts'
import { refuseNoAdmin } from '../people/last-admin.ts'
import { getPersonRow } from '../people/records.ts'
import { revokeTokensOf } from '../programs/of-person.ts'

/**
 * Takes away all connections of a person, or of a provider. The API tokens end of people who have no way in any more.
 * @param now ms since the epoch
 * @returns how many
 */
export async function disconnectAll(
  tx: Transaction<Database>,
  of: { user_id: number } | { provider_id: number },
  now: number,
): Promise<number> {
  const [column, id] =
    'user_id' in of ? (['user_id', of.user_id] as const) : (['provider_id', of.provider_id] as const)
  const taken = await tx.deleteFrom('user_identities').where(column, '=', id).returning('user_id').execute()
  for (const userId of new Set(taken.map(({ user_id }) => user_id)))
    if (!(await hasWayIn(tx, userId))) await revokeTokensOf(tx, userId, now)
  return taken.length
}

/**
 * Takes another person's accounts at providers away, and ends that person's sessions. Without another way in, the
 * person needs a link.
 * @returns how many
 * @throws NotFoundError, ConflictError for one's own, or where no administrator could sign in any more
 */
export async function disconnectPerson(
  context: Context,
  actor: Actor,
  session: Pick<Session, 'userId'>,
  userId: number,
): Promise<{ disconnected: number }> {
  if (userId === session.userId)
    throw new ConflictError('Disconnect your own providers on your page Account', [], 'conflict')
  const note = { actor, what: 'providers disconnected' }
  const none = { disconnected: 0, ended: [] as number[] }
  const { disconnected, ended } = await changeIfAny<typeof none>(context, note, async (tx) => {
    const { username } = await getPersonRow(tx, userId)
    const disconnected = await disconnectAll(tx, { user_id: userId }, context.clock())
    if (disconnected === 0) throw new Unchanged(none)
    await refuseNoAdmin(tx)
    const value = { disconnected, ended: await takeSessions(tx, userId) }
    return { value, touched: { people: [userId] }, name: username }
  })
  tellEnded(context, ended)
  return { disconnected }
}
