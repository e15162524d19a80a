import type { Role } from '@postern/contract/sign-in/auth'
import type { Transaction } from 'kysely'
import { type Actor, personOf } from '../../changes/actor.ts'
import { change, changeIfAny, nextTime, Unchanged } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import type { SignInPlace } from '../accounts/begin-session.ts'
import { readPasswordRule } from '../accounts/password-rule.ts'
import { takeSessions, tellEnded } from '../accounts/sessions.ts'
import { ConflictError, ForbiddenError } from '../errors.ts'
import { keepAllOf } from '../history/keep-all.ts'
import { isLastAdmin } from '../people/last-admin.ts'
import { isNameTaken } from '../people/names.ts'
import { requireRoom } from '../people/people.ts'
import { getPersonRow } from '../people/records.ts'
import { revokeTokensOf } from '../programs/of-person.ts'
import { connect, findConnected } from './identities.ts'
import type { Arrived } from './logins.ts'
import { getProviderRow } from './open-providers.ts'

/**
 * An account for a person who comes for the first time, where the provider may make some and a rule gives a role. It
 * never becomes one with an account that exists, whatever name or address the provider tells.
 * @throws ForbiddenError, ConflictError
 */
export async function makeAccount(
  context: Context,
  arrived: Arrived,
  place: SignInPlace,
): Promise<{ id: number; username: string }> {
  const { name: provider, is_making_accounts } = await getProviderRow(context.db, arrived.provider)
  if (is_making_accounts === 0)
    throw new ForbiddenError(
      `Nobody here is connected with your account at ${provider}. Ask an administrator for a link, or sign in another way and connect it under Account.`,
      'no_account',
    )
  const { role } = arrived
  if (role === null) throw noRole(provider)
  const [username] = arrived.names
  if (username === undefined)
    throw new ForbiddenError(
      `${provider} tells no name by which you could be known here. Ask an administrator for a link.`,
      'no_account',
    )
  const actor = { ...personOf({ id: 0, name: username }, place.address), id: null }
  const id = await change(context, { actor, what: `account made by sign-in at ${provider}` }, async (tx) => {
    await requireRoom(tx)
    if (await isNameTaken(tx, username))
      throw new ConflictError(
        `Somebody here is called “${username}” already. If that is you, sign in another way and connect ${provider} under Account; otherwise ask an administrator for a link.`,
      )
    const now = new Date(context.clock()).toISOString()
    const { id } = await tx
      .insertInto('users')
      .values({ username, role, is_made: 1, created_at: now, updated_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    await connect(context, tx, id, arrived, true)
    return { value: id, touched: { people: [id] }, name: username }
  })
  return { id, username }
}

/**
 * Gives an account that was made by a sign-in the role of now. Limits stay: they count again with the next smaller
 * role. The one person who may use a password and the last
 * administrator stay administrators: nobody could undo it.
 * @throws ForbiddenError when no rule fits any more
 */
export async function renewRole(context: Context, arrived: Arrived, place: SignInPlace): Promise<void> {
  const { name: provider } = await getProviderRow(context.db, arrived.provider)
  const { role } = arrived
  const user = await findConnected(context.db, arrived)
  if (!user) return
  const { user_id: id, username } = user
  const actor = personOf({ id, name: username }, place.address)
  if (role === null) {
    await endAccess(context, actor, id, provider)
    throw noRole(provider)
  }
  const isChanged = await changeIfAny(context, { actor, what: `role given by ${provider}` }, async (tx) => {
    const held = await findConnected(tx, arrived)
    if (!held || held.role === role || (await isKept(tx, held))) throw new Unchanged(false)
    const updated_at = nextTime(context.clock(), held.updated_at)
    await tx.updateTable('users').set({ role, updated_at }).where('id', '=', id).execute()
    return { value: true, touched: { people: [id] }, name: username }
  })
  if (isChanged) context.bus.emit({ kind: 'access-changed', userId: id })
}

async function isKept(tx: Transaction<Database>, { user_id: id, role }: { user_id: number; role: Role }) {
  return role === 'admin' && ((await readPasswordRule(tx)) === id || (await isLastAdmin(tx, id)))
}

/** The provider has just told that the person may do nothing here: what the account has open ends, too. */
async function endAccess(context: Context, actor: Actor, id: number, provider: string): Promise<void> {
  const what = `access ended by ${provider}`
  const ended = await changeIfAny<number[]>(context, { actor, what }, async (tx) => {
    const { username, role } = await getPersonRow(tx, id)
    if (await isKept(tx, { user_id: id, role })) throw new Unchanged([])
    const sessions = await takeSessions(tx, id)
    const tokens = await revokeTokensOf(tx, id, context.clock())
    const kept = await keepAllOf(tx, id)
    if (sessions.length + tokens + kept === 0) throw new Unchanged([])
    return { value: sessions, touched: { people: [id] }, name: username }
  })
  tellEnded(context, ended)
}

function noRole(provider: string): ForbiddenError {
  return new ForbiddenError(
    `No rule here gives your account at ${provider} access. Ask an administrator.`,
    'no_role',
  )
}
