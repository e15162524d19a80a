import { LIMITS } from '@postern/contract/limits'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { seedNodes } from '../../../../../bench/seed.ts'
import { MINUTE, startAlertLab } from '../../../test/alert-lab.ts'
import { pack } from '../figures/pack.ts'

const [NODES, SERVICES] = [10_000, 20_000]
const LOST = 2000

const lab = shared(() => startAlertLab({ isMeasured: true }))

/** Online until the end, but for the first ones. */
const tellNodes = (ids: readonly number[], lost: number) =>
  lab.server.context.live.update(
    1,
    ids.map((nodeId, index) => ({
      ...{ nodeId, rx: 0, tx: 0, clientIp: null, reachable: index >= lost },
      latestHandshake: index >= lost ? lab.server.now + 1000 * MINUTE : lab.server.now - 4 * MINUTE,
    })),
  )

let nodes: number[] = []
beforeAll(async () => {
  const { db } = lab.server.context
  await seedNodes(db, NODES)
  const counted = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${SERVICES})`
  const at = '2026-01-01T00:00:00.000Z'
  await sql`INSERT INTO services (type, node_id, name, name_folded, path, backend_proto, backend_port,
      allowed_ips, blocked_ips, enabled, system, revision, created_at, updated_at)
    ${counted} SELECT 'http', 2 + i % ${NODES}, 's' || i, 's' || i, '/s' || i, 'http', 80, '[]', '[]', 1, 0, 1,
      ${at}, ${at} FROM n`.execute(db)
  nodes = (await db.selectFrom('nodes').select('id').where('is_local', '=', 0).execute()).map(({ id }) => id)
  await lab.connectEdge()
  await lab.addNtfy()
  tellNodes(nodes, 0)
  await lab.pass(2 * MINUTE)
})

/** In ms of the processor, so that what else the machine does is no matter. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  const began = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}

it(`${LIMITS.alertRules} rules of one’s own take little, with the counts of ${SERVICES} services`, async () => {
  const { liveDb } = lab.server.context
  const minute = Math.floor(lab.server.now / MINUTE)
  const answers = JSON.stringify([3, ...Array<number>(24).fill(5)])
  const counted = (name: string, most: number) =>
    sql.raw(`${name} (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ${name} WHERE n < ${most})`)
  await sql`WITH RECURSIVE ${counted('s', SERVICES)}
    INSERT INTO counts (service, minute, connections, received, sent, answers)
    SELECT s.n, ${minute} - m.column1, 100, 1000, 1000, ${answers} FROM s, (VALUES (0), (1), (2)) AS m`.execute(
    liveDb,
  )
  const packed = pack(
    new Map(
      Array.from({ length: 60 }, (_, slot) => [
        slot,
        [
          100 + (slot % 7),
          90_000 + slot * 31,
          800_000 + slot * 77,
          3,
          ...Array.from({ length: 24 }, (_, bucket) => (slot * bucket) % 11),
        ],
      ]),
    ),
  )
  await sql`WITH RECURSIVE ${counted('s', SERVICES)}, ${counted('h', 2)}
    INSERT INTO minutes (hour, service, packed)
    SELECT ${Math.floor(minute / 60)} - h.n, s.n, ${packed} FROM s, h WHERE s.n <= 20000`.execute(liveDb)
  const before = await costOf(() => lab.pass(2 * MINUTE))
  for (let i = 1; i <= LIMITS.alertRules; i++) {
    const rule = { name: `r${i}`, figure: 'p95', threshold: 30_000, minutes: 60, serviceId: i + 1 }
    const made = await lab.client.post('/api/alerts/rules', rule)
    expect(made.statusCode, made.body).toBe(201)
  }
  const after = await costOf(() => lab.pass(2 * MINUTE))
  // Three passes, one of which reads the counts; five times what they take on an idle machine.
  expect(after - before).toBeLessThan(5 * 3 * 20)
})

it(`a look at ${NODES} nodes and ${SERVICES} services takes little, also when much is wrong`, async () => {
  const { edges, db } = lab.server.context
  const well = await costOf(() => lab.pass(2 * MINUTE))
  // Six looks: five times what they take on a machine with nothing else to do.
  expect(well).toBeLessThan(5 * 6 * 20)

  tellNodes(nodes, LOST)
  const services = (await db.selectFrom('services').select('id').where('system', '=', 0).execute()).slice(
    0,
    5000,
  )
  for (let start = 0; start < services.length; start += LIMITS.backendReports)
    lab.edge.send({
      type: 'backends',
      isFirst: false,
      backends: services
        .slice(start, start + LIMITS.backendReports)
        .map(({ id }) => ({ service: id, trouble: 'refused' })),
    })
  await until('all to be known', () => edges.views()[0]?.troubles.size === services.length)
  const bad = await costOf(() => lab.pass(10 * MINUTE))
  expect(bad).toBeLessThan(5 * 30 * 60)
  const counted = await lab.client.get('/api/alerts?limit=1')
  expect(counted.json().total).toBeGreaterThan(LOST)
  // And people get a handful of messages.
  expect(lab.titles().length).toBeLessThan(5)
})
