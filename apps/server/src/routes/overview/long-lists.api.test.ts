import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'

/** More values than one statement of SQLite takes: 32,766. */
const MANY = 33_000

const server = shared(() => startTestServer({ isMeasured: true }))
const client = shared(() => server.signIn())
beforeAll(async () => {
  const { db } = server.context
  const counted = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})`
  const at = '2026-01-01T00:00:00.000Z'
  await sql`INSERT INTO domains (domain, ssl, skip_validation, revision, created_at, updated_at)
    ${counted} SELECT 's' || i || '.example.com', 'self-signed', 1, 1, ${at}, ${at} FROM n`.execute(db)
  await sql`INSERT INTO certificates (domain_id, status, not_before, not_after, revision, created_at, updated_at)
    SELECT id, 'valid', ${at}, '9999-01-01T00:00:00.000Z', 1, ${at}, ${at} FROM domains`.execute(db)
  await sql`INSERT INTO services (type, node_id, name, name_folded, domain_id, path, backend_proto, backend_port,
      allowed_ips, blocked_ips, enabled, system, revision, created_at, updated_at)
    SELECT 'http', 1, domain, domain, id, '/', 'http', 80, '[]', '[]', 1, 0, 1, ${at}, ${at} FROM domains`.execute(
    db,
  )
})

it.each([
  ['/api/domains', MANY],
  // The console's own service is there as well.
  ['/api/services/http', MANY + 1],
  ['/api/services/1/http', MANY + 1],
])('%s returns all rows, however many', async (url, count) => {
  const answer = await client.get(url)
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toHaveLength(count)
  const page = (await client.get(`${url}?limit=2&page=2`)).json()
  expect(page).toMatchObject({ data: [answer.json()[2], answer.json()[3]], total: count })
})
