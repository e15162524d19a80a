import type { InvitedPerson, PersonFormInput } from '@postern/contract/people/people'
import type { Client, TestServer } from './server.ts'

export const PASSWORD_OF_PEOPLE = 'long enough 1'

/** Invites somebody, accepts, and @returns the person with a client that is signed in as them. */
export async function addPerson(
  server: TestServer,
  admin: Client,
  form: PersonFormInput,
): Promise<{ id: number; client: Client }> {
  const answer = await admin.post('/api/people', form)
  if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${answer.body}`)
  const { id, token } = answer.json<InvitedPerson>()
  const accepted = await server.call({
    method: 'POST',
    url: '/api/invites/accept',
    payload: { token, password: PASSWORD_OF_PEOPLE },
  })
  if (accepted.statusCode !== 200) throw new Error(`${accepted.statusCode} ${accepted.body}`)
  return { id, client: server.as(accepted.json<{ token: string }>().token) }
}
