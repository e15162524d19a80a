import type { ApiTokenFormInput, CreatedApiToken } from '@postern/contract/api-tokens'
import type { Reach, Role } from '@postern/contract/sign-in/auth'
import type { Client, TestServer } from '@postern/testkit/server'
import { createSession } from '../src/core/accounts/sessions.ts'

export interface Person {
  userId: number
  client: Client
}

/** A second person, who is signed in. */
export async function addPerson(
  server: TestServer,
  { username, role, reach = null }: { username: string; role: Role; reach?: Reach },
): Promise<Person> {
  const { context } = server
  const at = new Date(context.clock()).toISOString()
  const { id: userId } = await context.db
    .insertInto('users')
    .values({
      username,
      password_hash: null,
      role,
      is_limited: reach === null ? 0 : 1,
      created_at: at,
      updated_at: at,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const node_id of reach?.nodes ?? [])
    await context.db.insertInto('user_nodes').values({ user_id: userId, node_id }).execute()
  for (const domain_id of reach?.domains ?? [])
    await context.db.insertInto('user_domains').values({ user_id: userId, domain_id }).execute()
  const { token } = await createSession(context, userId, '')
  return { userId, client: server.as(token) }
}

/** @throws Error unless the server makes it */
export async function makeApiToken(
  client: Client,
  form: Partial<ApiTokenFormInput> = {},
): Promise<CreatedApiToken> {
  const answer = await client.post('/api/tokens', { name: 'backup', role: 'admin', ...form })
  if (answer.statusCode === 201) return answer.json<CreatedApiToken>()
  throw new Error(`the token was not made: ${answer.body}`)
}
