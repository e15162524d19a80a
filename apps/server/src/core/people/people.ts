import type { FieldError } from '@postern/contract/errors'
import { LIMITS } from '@postern/contract/limits'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import type { InvitedPerson, InviteForm, LinkForm, Person, PersonForm } from '@postern/contract/people/people'
import type { Reach } from '@postern/contract/sign-in/auth'
import type { Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, changeIfAny, nextTime, Unchanged } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { readReach } from '../access/access.ts'
import { refusePasswordPerson } from '../accounts/password-rule.ts'
import { takeSessions, tellEnded } from '../accounts/sessions.ts'
import { ConflictError, NotFoundError, ValidationError } from '../errors.ts'
import type { Patch } from '../patch.ts'
import { revokeTokensOf } from '../programs/of-person.ts'
import { putInvite } from './invites.ts'
import { refuseLastAdmin } from './last-admin.ts'
import { type MadeLink, mailLink } from './mail-link.ts'
import { refuseName } from './names.ts'
import { getPersonRow, readPeople } from './records.ts'

type Tx = Transaction<Database>

export const listPeople = ({ db, clock }: Context): Promise<Person[]> => readPeople(db, clock())

/** @throws NotFoundError */
export async function getPerson({ db, clock }: Context, id: number): Promise<Person> {
  const [person] = await readPeople(db, clock(), id)
  if (!person) throw new NotFoundError('Person')
  return person
}

/** @returns the person with the token of the link, which cannot be read again. @throws ValidationError, ConflictError */
export async function invitePerson(
  context: Context,
  actor: Actor,
  patch: Patch<InviteForm>,
): Promise<InvitedPerson> {
  const { id, link, email } = await change(context, { actor, what: 'person invited' }, async (tx) => {
    const { username, role, reach, email } = patch.onto({})
    await requireRoom(tx)
    await refuseName(tx, username)
    const now = new Date(context.clock()).toISOString()
    const { id } = await tx
      .insertInto('users')
      .values({ username, role, is_limited: flag(reach !== null), created_at: now, updated_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    await putReach(tx, id, reach)
    const link = await putInvite(context, tx, id, false)
    return { value: { id, link, email }, touched: { people: [id] }, name: username }
  })
  return await tellInvited(context, actor, id, link, email)
}

/**
 * A change of role or limits is in force at once; open streams begin anew with it.
 * @throws NotFoundError, ValidationError, ConflictError
 */
export async function updatePerson(
  context: Context,
  actor: Actor,
  id: number,
  patch: Patch<PersonForm>,
): Promise<Person> {
  await change(context, { actor, what: 'person updated' }, async (tx) => {
    const row = await getPersonRow(tx, id)
    const current = {
      username: row.username,
      role: row.role,
      reach: await readReach(tx, id, row),
    }
    const { username, role, reach } = patch.onto(current, row.updated_at)
    if (role !== 'admin') {
      await refusePasswordPerson(tx, id)
      await refuseLastAdmin(tx, id)
    }
    await refuseName(tx, username, id)
    // Those that an administrator by rules has from before are for the role that comes after.
    const areKept = role === 'admin' && row.role === 'admin'
    if (!areKept) await putReach(tx, id, reach)
    await tx
      .updateTable('users')
      .set({ username, role, ...(!areKept && { is_limited: flag(reach !== null) }) })
      .set({ updated_at: nextTime(context.clock(), row.updated_at) })
      .where('id', '=', id)
      .execute()
    return { value: undefined, touched: { people: [id] }, name: username }
  })
  context.bus.emit({ kind: 'access-changed', userId: id })
  return await getPerson(context, id)
}

/** A disabled person is signed out at once, cannot sign in, and has no API tokens any more. @throws NotFoundError, ConflictError */
export async function setPersonEnabled(
  context: Context,
  actor: Actor,
  id: number,
  isOn: boolean,
): Promise<Person> {
  const what = isOn ? 'person enabled' : 'person disabled'
  const ended = await changeIfAny<number[]>(context, { actor, what }, async (tx) => {
    const row = await getPersonRow(tx, id)
    if (row.is_disabled === flag(!isOn)) throw new Unchanged([])
    if (!isOn) {
      await refusePasswordPerson(tx, id)
      await refuseLastAdmin(tx, id)
    }
    await tx
      .updateTable('users')
      .set({ is_disabled: flag(!isOn), updated_at: nextTime(context.clock(), row.updated_at) })
      .where('id', '=', id)
      .execute()
    if (!isOn) await revokeTokensOf(tx, id, context.clock())
    return { value: await takeSessions(tx, id), touched: { people: [id] }, name: row.username }
  })
  tellEnded(context, ended)
  return await getPerson(context, id)
}

/** @throws NotFoundError, ConflictError */
export async function removePerson(context: Context, actor: Actor, id: number): Promise<{ id: number }> {
  const ended = await change(context, { actor, what: 'person deleted' }, async (tx) => {
    const { username } = await getPersonRow(tx, id)
    await refusePasswordPerson(tx, id)
    await refuseLastAdmin(tx, id)
    const value = await takeSessions(tx, id)
    await tx.deleteFrom('users').where('id', '=', id).execute()
    return { value, touched: { people: [id] }, name: username }
  })
  tellEnded(context, ended)
  return { id }
}

/** A new link instead of any before. @throws NotFoundError */
export async function renewInvite(
  context: Context,
  actor: Actor,
  id: number,
  { email }: LinkForm,
): Promise<InvitedPerson> {
  if (actor.kind === 'person' && actor.id === id)
    throw new ConflictError('This link would be for yourself. Change your password on the page Account.')
  const link = await change(context, { actor, what: 'person invited again' }, async (tx) => {
    const row = await getPersonRow(tx, id)
    const open = await tx
      .selectFrom('invites')
      .select('is_reset')
      .where('user_id', '=', id)
      .executeTakeFirst()
    const isReset = open ? open.is_reset === 1 : true
    return {
      value: await putInvite(context, tx, id, isReset),
      touched: { people: [id] },
      name: row.username,
      ...(isReset && { what: 'person given a link for a new password' }),
    }
  })
  return await tellInvited(context, actor, id, link, email)
}

async function tellInvited(
  context: Context,
  actor: Actor,
  id: number,
  link: MadeLink,
  email: string | null,
): Promise<InvitedPerson> {
  const person = await getPerson(context, id)
  return { ...person, token: link.token, ...(await mailLink(context, actor, link, email)) }
}

/** @returns how many. @throws NotFoundError */
export async function endPersonSessions(
  context: Context,
  actor: Actor,
  id: number,
): Promise<{ ended: number }> {
  const ended = await changeIfAny<number[]>(context, { actor, what: 'sessions ended' }, async (tx) => {
    const { username } = await getPersonRow(tx, id)
    const value = await takeSessions(tx, id)
    if (value.length === 0) throw new Unchanged([])
    return { value, touched: { people: [id] }, name: username }
  })
  tellEnded(context, ended)
  return { ended: ended.length }
}

/** @throws ConflictError */
export async function requireRoom(tx: Tx): Promise<void> {
  const held = await tx.selectFrom('users').select('id').execute()
  if (held.length >= LIMITS.people)
    throw new ConflictError(`There are ${held.length} people, which is the limit. Delete one first.`)
}

/** @throws ValidationError for a node or a domain that is gone */
async function putReach(tx: Tx, userId: number, reach: Reach): Promise<void> {
  await tx.deleteFrom('user_nodes').where('user_id', '=', userId).execute()
  await tx.deleteFrom('user_domains').where('user_id', '=', userId).execute()
  if (reach === null) return
  const [nodes, domains] = [[...new Set(reach.nodes)], [...new Set(reach.domains)]]
  const known = await tx.selectFrom('nodes').select('id').where('id', 'in', nodes).execute()
  const knownDomains = await tx.selectFrom('domains').select('id').where('id', 'in', domains).execute()
  const errors: FieldError[] = []
  if (known.length < nodes.length) errors.push({ field: 'reach.nodes', message: PEOPLE_MESSAGES.unknownNode })
  if (knownDomains.length < domains.length)
    errors.push({ field: 'reach.domains', message: PEOPLE_MESSAGES.unknownDomain })
  if (errors.length > 0) throw new ValidationError(errors)
  const userRow = { user_id: userId }
  if (nodes.length > 0)
    await tx
      .insertInto('user_nodes')
      .values(nodes.map((node_id) => ({ ...userRow, node_id })))
      .execute()
  if (domains.length > 0)
    await tx
      .insertInto('user_domains')
      .values(domains.map((domain_id) => ({ ...userRow, domain_id })))
      .execute()
}
