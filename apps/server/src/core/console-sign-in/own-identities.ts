import type { Identity } from '@postern/contract/sign-in/provider-login'
import type { Kysely } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, changeIfAny, Unchanged } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { isMade } from '../accounts/maker.ts'
import { refuseLastWayIn } from '../accounts/password-rule.ts'
import type { Session } from '../accounts/sessions.ts'
import { type Confirmed, requireConfirmed } from '../accounts/stamp.ts'
import { ConflictError, NotFoundError } from '../errors.ts'
import { connect, connectedElsewhere, findConnected } from './identities.ts'
import { getProviderRow } from './open-providers.ts'

type Own = Pick<Session, 'userId' | 'sessionId' | 'username'>

/** The providers' accounts with which a person signs in, in the order in which they were connected. */
export async function listIdentities(db: Kysely<Database>, userId: number): Promise<Identity[]> {
  const rows = await db
    .selectFrom('user_identities')
    .innerJoin('console_providers', 'console_providers.id', 'user_identities.provider_id')
    .select(['user_identities.id', 'email', 'user_identities.created_at', 'last_used_at'])
    .select('is_made_by_sign_in')
    .select(['console_providers.id as provider', 'console_providers.name'])
    .where('user_id', '=', userId)
    .orderBy('user_identities.id')
    .execute()
  return rows.map(({ id, email, created_at, last_used_at, is_made_by_sign_in, provider, name }) => ({
    ...{ id, email, connectedAt: created_at, lastUsedAt: last_used_at },
    ...{ provider: { id: provider, name }, isMade: is_made_by_sign_in === 1 },
  }))
}

/**
 * An account that a sign-in made would leave the rules that give its role by any other connection.
 * @throws ConflictError
 */
export async function refuseOther(db: Kysely<Database>, userId: number): Promise<void> {
  if (!(await isMade(db, userId))) return
  throw new ConflictError(
    'Your account was made by a sign-in at a provider, so it signs in by that one. Ask an administrator for a link to change this.',
  )
}

/** Its own again is no error. @throws ConflictError, and what `requireConfirmed` throws */
export async function addIdentity(
  context: Context,
  actor: Actor,
  { userId, sessionId, username }: Own,
  ticket: string,
  key: string | undefined,
): Promise<Identity[]> {
  const arrived = await context.providerLogins.arrive(ticket, key)
  const { purpose } = arrived ?? {}
  const own = purpose?.kind === 'connect' && purpose.userId === userId ? purpose : undefined
  if (!arrived || own?.sessionId !== sessionId)
    throw new ConflictError('Begin again: this took too long, or began elsewhere', [], 'sign_in_over')
  const { name } = await getProviderRow(context.db, arrived.provider)
  await changeIfAny<void>(context, { actor, what: `${name} connected for signing in` }, async (tx) => {
    await requireConfirmed(tx, { ...own, id: userId })
    const held = await findConnected(tx, arrived)
    if (held && held.user_id !== userId) throw connectedElsewhere(name)
    if (held) throw new Unchanged(undefined)
    await refuseOther(tx, userId)
    await connect(context, tx, userId, arrived)
    return { value: undefined, touched: { people: [userId] }, name: username }
  })
  return await listIdentities(context.db, userId)
}

/** @throws NotFoundError, ConflictError for the last way to sign in */
export async function removeIdentity(
  context: Context,
  actor: Actor,
  { userId, username }: Own,
  confirmed: Confirmed,
  id: number,
): Promise<Identity[]> {
  await change<void>(context, { actor, what: 'provider disconnected' }, async (tx) => {
    await requireConfirmed(tx, confirmed)
    await refuseOther(tx, userId)
    const removed = await tx
      .deleteFrom('user_identities')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returning('provider_id')
      .executeTakeFirst()
    if (!removed) throw new NotFoundError('Identity')
    await refuseLastWayIn(tx, userId)
    const { name } = await getProviderRow(tx, removed.provider_id)
    return {
      ...{ value: undefined, touched: { people: [userId] }, name: username },
      what: `${name} disconnected`,
    }
  })
  return await listIdentities(context.db, userId)
}
