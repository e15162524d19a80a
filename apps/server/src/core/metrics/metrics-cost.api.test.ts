import { LIMITS } from '@postern/contract/limits'
import { connectEdgeClient } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { seedNodes } from '../../../../../bench/seed.ts'
import { ask, metricsSettings, openMetricsOf } from '../../../test/metrics-lab.ts'
import { createMetrics } from './metrics.ts'
import { renderPrometheus } from './prometheus.ts'

const [NODES, SERVICES] = [10_000, 20_000]

const server = shared(async () => startTestServer({ isMeasured: true, settings: await metricsSettings() }))
let close = async () => {}
beforeAll(async () => {
  const { db, live, totals } = server.context
  await seedNodes(db, NODES)
  const counted = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${SERVICES})`
  const at = '2026-01-01T00:00:00.000Z'
  await sql`INSERT INTO domains (domain, ssl, skip_validation, revision, created_at, updated_at)
    ${counted} SELECT 's' || i || '.example.com', 'self-signed', 1, 1, ${at}, ${at} FROM n`.execute(db)
  await sql`INSERT INTO certificates (domain_id, status, chain, private_key, not_before, not_after, revision, created_at,
      updated_at)
    SELECT id, 'valid', ${'c'.repeat(4000)}, 'key', ${at}, '9999-01-01T00:00:00.000Z', 1, ${at}, ${at}
    FROM domains`.execute(db)
  await sql`INSERT INTO services (type, node_id, name, name_folded, domain_id, path, backend_proto, backend_port,
      allowed_ips, blocked_ips, enabled, system, revision, created_at, updated_at)
    SELECT 'http', 2 + id % ${NODES}, domain, domain, id, '/', 'http', 80, '[]', '[]', 1, 0, 1, ${at}, ${at}
    FROM domains`.execute(db)
  const nodes = await db.selectFrom('nodes').select('id').where('is_local', '=', 0).execute()
  live.update(
    1,
    nodes.map(({ id }) => ({
      ...{ nodeId: id, latestHandshake: server.now, rx: 123_456_789 + id, tx: 987_654_321 + id },
      ...{ clientIp: null, reachable: true },
    })),
  )
  const services = await db.selectFrom('services').select('id').execute()
  totals.add(services.map(({ id }) => [id, [1_234_567 + id, 12_345_678_901 + id, 123_456_789_012 + id]]))
  close = await openMetricsOf(server)
  await server.listenOnSocket()
  const edge = await connectEdgeClient(server.context.config.paths)
  const { latest } = await db.selectFrom('revisions').select('latest').executeTakeFirstOrThrow()
  const problems = services
    .slice(-LIMITS.edgeProblems)
    .map(({ id }) => ({ scope: { kind: 'service' as const, id }, message: 'no' }))
  edge.report(latest, { problems })
  await until(
    'the edge to be heard',
    () => server.context.edges.views()[0]?.problems.length === problems.length,
  )
})
afterAll(() => close())

/** In ms of the processor, so that what else the machine does is no matter. */
function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** The longest work between two turns of the event loop while something goes on. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [most, isOver, last] = [0, false, process.cpuUsage()]
  const turn = () => {
    most = Math.max(most, cpuSince(last))
    last = process.cpuUsage()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  return most
}

it(`of ${SERVICES} services and ${NODES} nodes are told in little time, in which the server does other things`, async () => {
  const metrics = createMetrics(server.context)
  const render = async () => {
    for await (const text of renderPrometheus(metrics.measure())) expect(text).not.toBe('')
  }
  const first = await longestTurn(render)
  const usual = await longestTurn(render)
  metrics.close()
  await ask(server).then((answer) => answer.text())
  const began = process.cpuUsage()
  const text = await (await ask(server)).text()
  const cost = cpuSince(began)
  expect(text.split('\n').length).toBeGreaterThan(6 * SERVICES + 4 * NODES)
  // Five times what it takes on a machine with nothing else to do.
  expect(cost).toBeLessThan(5 * 400)
  expect(usual).toBeLessThan(5 * 50)
  expect(first).toBeLessThan(5 * 80)
})
