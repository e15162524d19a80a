import { writeRows } from '@postern/testkit/rows'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { costMs } from '@postern/testkit/time'
import { sql } from 'kysely'
import { expect, test } from 'vitest'

const server = shared(() => startTestServer({ isMeasured: true }))
const client = shared(() => server.signIn())
const COUNT = 2500

/** In ms of processor time. */
async function costOfOne(times: number, work: () => Promise<unknown>): Promise<number> {
  const all = await costMs(async () => {
    for (let i = 0; i < times; i++) await work()
  })
  return all / times
}

test('a change of one record takes a few ms, also beside 100,000 others, and its history is read as fast', async () => {
  const { db } = server.context
  const node = await client.createNode({ name: 'n' })
  const url = `/api/services/${node.id}/tcp`
  const { id } = (await client.post(url, { name: 'one', backendPort: 80 })).json()
  await sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO changes (revision, at, actor, what, name, node_id) SELECT -i, '2026-01-01T00:00:00.000Z', 'admin', 'service updated', 'name ' || i, ${node.id} FROM n`.execute(
    db,
  )
  await sql`INSERT INTO change_records (revision, position, kind, record_id, node_id, name, before, after)
    SELECT revision, 0, 'service', 1000000 - revision % 500, node_id, name, '{"backendPort":80}', '{"backendPort":81}' FROM changes WHERE revision < 0`.execute(
    db,
  )
  let port = 1000
  const save = () => client.patch(`${url}/${id}`, { backendPort: ++port })
  await save()
  expect(await costOfOne(30, save)).toBeLessThan(20)
  for (const query of [
    '',
    '?search=name%209999',
    '?kind=service&id=1000001',
    `?node=${node.id}`,
    '?actor=admin',
    '?search=nothing',
  ])
    expect(await costOfOne(5, () => client.get(`/api/history${query}`)), query).toBeLessThan(400)
  // Found in each record, but only as the name of a field: the dearest search.
  const dearest = await costOfOne(3, () => client.get('/api/history?search=backendPort'))
  expect(dearest).toBeLessThan(1500)
}, 120_000)

test('making room for a thousand more beside 100,000 others takes a moment', async () => {
  const bounds = { entries: 99_000, bytes: 256 * 1024 * 1024, lookEvery: 1 }
  const full = await startTestServer({ isMeasured: true, world: { historyBounds: bounds } })
  try {
    const { db } = full.context
    const admin = await full.signIn()
    // An entry of somebody else between hundred of the first.
    await sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99996)
      INSERT INTO changes (revision, at, actor, actor_kind, actor_id, share, what, name, hash)
      SELECT -i, '2026-01-01T00:00:00.000Z', 'eve', 'person', 1000 + (i % 100 = 0), 'person ' || (1000 + (i % 100 = 0)), 'service updated', 'name', hex(randomblob(32)) FROM n`.execute(
      db,
    )
    await sql`INSERT INTO change_records (revision, position, kind, record_id, name, before, after)
      SELECT revision, 0, 'service', revision % 500, 'name', '{}', '{}' FROM changes WHERE revision < 0`.execute(
      db,
    )
    await sql`UPDATE change_chain SET start_revision = -100000`.execute(db)
    const count = async () =>
      (await sql<{ n: number }>`SELECT count(*) AS n FROM changes WHERE folded IS NULL`.execute(db)).rows[0]
        ?.n
    expect(await count()).toBeGreaterThan(99_990)
    const cost = await costMs(() => admin.createNode({ name: 'one more' }))
    expect(await count()).toBe(99_000)
    expect(cost).toBeLessThan(500)
  } finally {
    await full.close()
  }
}, 120_000)

test('what a change of thousands keeps is bounded, and what is left out is counted', async () => {
  const { db } = server.context
  const node = await client.createNode({ name: 'many' })
  await writeRows(db, async (tx, revision) => {
    const at = new Date().toISOString()
    for (let i = 0; i < COUNT; i++)
      await tx
        .insertInto('services')
        .values({
          ...{
            type: 'tcp',
            node_id: node.id,
            name: `s${i}`,
            name_folded: `s${i}`,
            proto: 'tcp',
            port: 32760 + i,
            ssl: 0,
          },
          ...{ backend_port: 80, allowed_ips: '[]', blocked_ips: '[]', enabled: 1, system: 0, revision },
          ...{ created_at: at, updated_at: at },
        })
        .execute()
  })
  const start = performance.now()
  expect((await client.delete(`/api/nodes/${node.id}`)).statusCode).toBe(200)
  expect(performance.now() - start).toBeLessThan(5000)
  const [entry] = (await client.get('/api/history?limit=1')).json().data
  // The services, the node and its token.
  expect(entry).toMatchObject({ what: 'node deleted', total: COUNT + 2 })
  const kept = await db
    .selectFrom('change_records')
    .select('position')
    .where('revision', '=', entry.revision)
    .execute()
  expect(kept).toHaveLength(2000)
}, 60_000)
