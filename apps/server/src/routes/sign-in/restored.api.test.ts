import { copyFileSync, rmSync } from 'node:fs'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { expect, test } from 'vitest'

const server = shared(() =>
  startTestServer({
    settings: {
      POSTERN_OIDC_ISSUER: 'https://accounts.example.com',
      POSTERN_OIDC_CLIENT_ID: 'postern',
      POSTERN_OIDC_CLIENT_SECRET: 'a secret',
    },
  }),
)

/** The id of an entry, which is what HAProxy knows of a session. */
async function entryOf(email: string): Promise<number> {
  const { db } = server.context
  const row = await db
    .selectFrom('domain_members')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow()
  return row.id
}

test('after a backup was restored nobody gets the entry of a person whom it does not know', async () => {
  const client = await server.signIn()
  const form = { domain: 'app.example.com', skipValidation: true, authentication: true }
  const { id } = await client.createDomain({ ...form, allowedEmails: ['ann@example.com'] })
  const list = (...allowedEmails: string[]) => client.patch(`/api/domains/${id}`, { allowedEmails })
  const { database } = server.context.config.paths
  await server.restart({}, () => copyFileSync(database, `${database}.backup`))
  await list('ann@example.com', 'eve@example.com')
  const [ann, eve] = [await entryOf('ann@example.com'), await entryOf('eve@example.com')]
  await server.restart({}, () => {
    for (const suffix of ['-wal', '-shm']) rmSync(database + suffix, { force: true })
    copyFileSync(`${database}.backup`, database)
  })
  await list('ann@example.com', 'bob@example.com')
  expect(await entryOf('ann@example.com')).toBe(ann)
  expect(await entryOf('bob@example.com')).toBeGreaterThan(eve)
})
