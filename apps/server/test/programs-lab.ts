import type { ApiTokenFormInput, CreatedApiToken } from '@postern/contract/api-tokens'
import type { Client } from '@postern/testkit/server'

/** @throws Error unless the server makes it */
export async function makeApiToken(
  client: Client,
  form: Partial<ApiTokenFormInput> = {},
): Promise<CreatedApiToken> {
  const answer = await client.post('/api/tokens', { name: 'backup', role: 'admin', ...form })
  if (answer.statusCode === 201) return answer.json<CreatedApiToken>()
  throw new Error(`the token was not made: ${answer.body}`)
}
