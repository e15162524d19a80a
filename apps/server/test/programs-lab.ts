import type { ApiTokenFormInput, CreatedApiToken } from '@postern/contract/api-tokens'
import { type Client, TEST_ADMIN } from '@postern/testkit/server'

/** The password of the first person; others of a test have none, and have just signed in. */
export const CONFIRMED = { password: TEST_ADMIN.password }

/** @throws Error unless the server makes it */
export async function makeApiToken(
  client: Client,
  form: Partial<ApiTokenFormInput> = {},
): Promise<CreatedApiToken> {
  const answer = await client.post('/api/tokens', { name: 'backup', role: 'admin', ...CONFIRMED, ...form })
  if (answer.statusCode === 201) return answer.json<CreatedApiToken>()
  throw new Error(`the token was not made: ${answer.body}`)
}
