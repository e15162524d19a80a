import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { INSTALLATION } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import type { Database } from '../../db/schema.ts'
import { disconnectAll } from '../console-sign-in/disconnect.ts'
import { keepAllOf } from '../history/keep-all.ts'
import { revokeTokensOf } from '../programs/of-person.ts'
import type { GeneratedAdmin } from './accounts.ts'
import { deleteFactors } from './factors/factors.ts'
import { hashPassword, PASSWORD_COST } from './passwords.ts'
import { takeSessions } from './sessions.ts'

/**
 * Always lets one administrator in: the first who is enabled, else the first, who is enabled again; and when nobody
 * has that role, the first person gets it. Gives them another password, removes their second factors and connected
 * accounts at providers, and ends their sessions. Where only one person may use a password, it is this one from then on. While no server runs.
 * @param chosen null to generate one
 * @returns the credentials, to be shown this one time; undefined when there is no account yet
 */
export async function setNewPassword(
  db: Kysely<Database>,
  chosen: string | null,
  cost = PASSWORD_COST,
): Promise<GeneratedAdmin | undefined> {
  const first = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .orderBy((eb) => eb('role', '=', 'admin'), 'desc')
    .orderBy('is_disabled')
    .orderBy('id')
    .executeTakeFirst()
  if (!first) return undefined
  const password = chosen ?? randomBytes(15).toString('base64url')
  const password_hash = await hashPassword(password, cost)
  const updated_at = new Date().toISOString()
  const note = {
    actor: { ...INSTALLATION, name: 'the host', share: 'host' },
    what: 'person given a new password',
  }
  await change({ db, bus: NOBODY_LISTENS, clock: Date.now }, note, async (tx) => {
    await tx
      .updateTable('users')
      .set({ password_hash, role: 'admin', is_limited: 0, is_disabled: 0, is_made: 0, updated_at })
      .where('id', '=', first.id)
      .execute()
    await tx
      .updateTable('password_rule')
      .set({ user_id: first.id })
      .where('user_id', 'is not', null)
      .execute()
    await tx.deleteFrom('invites').where('user_id', '=', first.id).execute()
    await deleteFactors(tx, first.id)
    await disconnectAll(tx, { user_id: first.id }, Date.now())
    await takeSessions(tx, first.id)
    await revokeTokensOf(tx, first.id, Date.now())
    await keepAllOf(tx, first.id)
    return { value: undefined, touched: { people: [first.id] }, name: first.username }
  })
  return { username: first.username, password }
}

const NOBODY_LISTENS = { emit: () => {}, listen: () => () => {} }
