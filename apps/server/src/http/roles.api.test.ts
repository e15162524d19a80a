import { type Endpoint, pathOf } from '@postern/contract/endpoints/endpoint'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import type { InjectOptions } from 'fastify'
import { beforeAll, expect, test } from 'vitest'

const server = shared(startTestServer)
const client = shared(() => server.signIn())
beforeAll(async () => {
  // A role that a newer version left in the database: this one allows it nothing.
  const { db } = server.context
  // The column's type has only the roles that this version knows.
  await db
    .updateTable('users')
    .set({ role: 'auditor' as 'admin' })
    .execute()
})

const all: [string, Endpoint][] = Object.entries(endpoints)

test.each(all.filter(([, { roles }]) => roles !== undefined && roles !== 'any'))(
  '%s refuses a role that may not call it, and says so',
  async (_, endpoint) => {
    const answer = await call(endpoint)
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({
      code: 'role',
      message: expect.stringMatching(
        /^Your role does not allow this\. Ask an (editor or an )?administrator\.$/,
      ),
    })
  },
)

test('a person who is refused something is still signed in, and may sign out', async () => {
  expect((await call(endpoints.me)).json().code).toBe('role')
  expect((await call(endpoints.logout)).statusCode).toBe(200)
  expect((await call(endpoints.me)).statusCode).toBe(401)
})

function call(endpoint: Endpoint) {
  const options: InjectOptions = {
    method: endpoint.method,
    url: pathOf(endpoint, { id: 1, nodeId: 1, type: 'http' }),
    headers: { authorization: `Bearer ${client.token}` },
  }
  return server.call(endpoint.method === 'GET' ? options : { ...options, payload: {} })
}
