import type { InvitedPerson, PersonFormInput } from '@postern/contract/people/people'
import type { Reach, Role } from '@postern/contract/sign-in/auth'
import type { Context } from '../../../apps/server/src/context.ts'
import { createSession } from '../../../apps/server/src/core/accounts/sessions.ts'
import { findStamp } from '../../../apps/server/src/core/accounts/stamp.ts'
import type { Client, TestServer } from './server.ts'

/** A new person with this role and these limits, who is signed in. */
export async function addPerson(
  server: TestServer,
  username: string,
  role: Role,
  reach: Reach = null,
): Promise<Client & { userId: number }> {
  const { context } = server
  const now = new Date(context.clock()).toISOString()
  const { id: userId } = await context.db
    .insertInto('users')
    .values({ username, role, is_limited: reach ? 1 : 0, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const node_id of reach?.nodes ?? [])
    await context.db.insertInto('user_nodes').values({ user_id: userId, node_id }).execute()
  for (const domain_id of reach?.domains ?? [])
    await context.db.insertInto('user_domains').values({ user_id: userId, domain_id }).execute()
  const { token } = await openSession(context, userId)
  return { userId, ...server.as(token) }
}

/** Of a person who has shown all that the account asks for. */
export async function openSession(context: Context, id: number, key?: string): Promise<{ token: string }> {
  const stamp = (await findStamp(context.db, id)) ?? ''
  return await createSession(context, { id, stamp }, { address: '', host: '', browser: '' }, key)
}

export const PASSWORD_OF_PEOPLE = 'long enough 1'

/** The same by the API: invites, and accepts with this password. */
export async function letIn(
  server: TestServer,
  admin: Client,
  form: PersonFormInput,
): Promise<{ id: number; client: Client }> {
  const { id, token } = (await admin.post('/api/people', form)).json<InvitedPerson>()
  const payload = { token, password: PASSWORD_OF_PEOPLE }
  const accepted = await server.call({ method: 'POST', url: '/api/invites/accept', payload })
  return { id, client: server.as(accepted.json<{ login: { token: string } }>().login.token) }
}
