import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { EdgeVitals } from '@postern/contract/edge/edge-messages'
import { connectEdgeClient, type EdgeClient } from '@postern/testkit/edge-client'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, findFaults, metricsSettings, openMetricsOf, scrape } from '../../../test/metrics-lab.ts'

const server = shared(async () => startTestServer({ settings: await metricsSettings() }))
const client = shared(() => server.signIn())

const PROCESS = { startedAt: 1_700_000_000_000, cpuSeconds: 1.5, residentBytes: 5e7, openFiles: 20 }
const VITALS: EdgeVitals = {
  process: { ...PROCESS, mostOpenFiles: 1024 },
  eventLoop: { median: 0.001, p99: 0.01, most: 0.02 },
  haproxy: {
    process: { ...PROCESS, mostOpenFiles: null },
    version: '3.0.11',
    ...{ connections: 7, mostConnections: 5000, connectionsTotal: 70, requestsTotal: 700 },
    ...{ tlsConnections: 3, tlsConnectionsTotal: 30, sessionRate: 2, poolBytes: 4e6, idleRatio: 0.75 },
  },
}

let edge: EdgeClient
let seq = 0
/** Says what services carried until it is stored. */
async function count(service: number, ...counts: [number, number, number]): Promise<void> {
  seq++
  const minute = Math.floor(server.now / 60_000)
  edge.send({ type: 'counts', ledger: 'l1', seq, minute, counts: [[service, ...counts]] })
  await until('the counts to be stored', () =>
    edge.hints.some((hint) => hint.type === 'counted' && hint.seq === seq),
  )
}
const connect = async () => {
  await server.listenOnSocket()
  edge = await connectEdgeClient(server.context.config.paths)
}

let ids = { node: 0, away: 0, web: 0, tcp: 0, off: 0, lost: 0 }
let close = async () => {}
beforeAll(async () => {
  const create = async (url: string, form: object) => (await client.post(url, form)).json<{ id: number }>().id
  const node = (await client.createNode({ name: 'office "1"\\' })).id
  const away = (await client.createNode({ name: 'away' })).id
  const http = { domain: 'app.example.com', skipValidation: true }
  const web = await create(`/api/services/${node}/http`, { name: 'web', ...http })
  const off = await create(`/api/services/${node}/http`, { name: 'off', ...http, pathLocation: '/off' })
  await client.patch(`/api/services/${node}/http/${off}/disable`)
  const tcp = await create(`/api/services/${node}/tcp`, { name: 'mqtt', proto: 'tcp', backendPort: 1883 })
  const lost = await create(`/api/services/${away}/http`, { name: 'lost', ...http, pathLocation: '/lost' })
  ids = { node, away, web, tcp, off, lost }
  close = await openMetricsOf(server)
  await connect()
})
afterAll(() => close())

const NODE = 'node="office \\"1\\"\\\\"'
const of = (id: number, name: string, node = NODE) => `{service_id="${id}",service="${name}",${node}}`

describe('metrics', () => {
  it('say how services, nodes, certificates, edges and programs are', async () => {
    const { revision } = await server.context.db
      .selectFrom('revisions')
      .select('latest as revision')
      .executeTakeFirstOrThrow()
    const handshake = server.now
    const peer = { latestHandshake: handshake, clientIp: null, reachable: true }
    edge.report(revision, { problems: [{ scope: { kind: 'service', id: ids.tcp }, message: 'no' }] })
    edge.send({ type: 'peers', peers: [{ nodeId: ids.node, rx: 11, tx: 22, ...peer }] })
    edge.send({ type: 'vitals', vitals: VITALS })
    await count(ids.web, 2, 30, 400)
    await count(ids.tcp, 1, 5, 6)
    const found = await scrape(server)
    const expected = {
      'postern_build_info{version="0.1.0"}': 1,
      postern_revision: revision,
      [`postern_service_info{service_id="${ids.web}",service="web",${NODE},type="http",domain="app.example.com"}`]: 1,
      [`postern_service_up${of(ids.web, 'web')}`]: 1,
      [`postern_service_up${of(ids.tcp, 'mqtt')}`]: 0,
      [`postern_service_problem${of(ids.tcp, 'mqtt').replace('}', ',state="failed"}')}`]: 1,
      [`postern_service_up${of(ids.lost, 'lost', 'node="away"')}`]: 0,
      [`postern_service_requests_total${of(ids.web, 'web')}`]: 2,
      [`postern_service_received_bytes_total${of(ids.web, 'web')}`]: 30,
      [`postern_service_sent_bytes_total${of(ids.web, 'web')}`]: 400,
      [`postern_service_connections_total${of(ids.tcp, 'mqtt')}`]: 1,
      // Begins at zero, so that its first growth is seen.
      [`postern_service_requests_total${of(ids.lost, 'lost', 'node="away"')}`]: 0,
      'postern_services{state="disabled"}': 1,
      'postern_services{state="failed"}': 1,
      'postern_services{state="node-offline"}': 1,
      // The console's own, too.
      'postern_services{state="live"}': 2,
      [`postern_node_up{node_id="${ids.node}",${NODE}}`]: 1,
      [`postern_node_up{node_id="${ids.away}",node="away"}`]: 0,
      [`postern_node_last_handshake_timestamp_seconds{node_id="${ids.node}",${NODE}}`]: handshake / 1000,
      [`postern_node_received_bytes_total{node_id="${ids.node}",${NODE}}`]: 11,
      [`postern_node_sent_bytes_total{node_id="${ids.node}",${NODE}}`]: 22,
      'postern_nodes{state="online"}': 1,
      'postern_nodes{state="never-connected"}': 1,
      postern_tunnel_addresses: 2,
      'postern_certificate_valid{domain="app.example.com"}': 1,
      'postern_certificate_valid{domain="203.0.113.1"}': 1,
      'postern_edge_up{edge="Local"}': 1,
      'postern_edge_applied_revision{edge="Local"}': revision,
      'postern_edge_problems{edge="Local"}': 1,
      'postern_edge_part_up{edge="Local",part="wireguard"}': 1,
      'postern_haproxy_info{edge="Local",version="3.0.11"}': 1,
      'postern_haproxy_connections{edge="Local"}': 7,
      'postern_haproxy_idle_ratio{edge="Local"}': 0.75,
      'postern_process_cpu_seconds_total{process="edge",edge="Local"}': 1.5,
      'postern_process_start_time_seconds{process="haproxy",edge="Local"}': 1_700_000_000,
      'postern_process_event_loop_delay_seconds{process="edge",edge="Local",statistic="max"}': 0.02,
    }
    expect(Object.fromEntries(Object.keys(expected).map((key) => [key, found.get(key)]))).toEqual(expected)
    expect(found.has(`postern_service_up${of(ids.off, 'off')}`)).toBe(false)
    const soon = (server.now + 30 * 86_400_000) / 1000
    expect(
      found.get('postern_certificate_expiry_timestamp_seconds{domain="app.example.com"}'),
    ).toBeGreaterThan(soon)
    for (const name of ['cpu_seconds_total', 'resident_memory_bytes', 'open_fds', 'max_fds'])
      expect(found.get(`postern_process_${name}{process="server"}`)).toBeGreaterThan(0)
    expect(found.get('postern_database_size_bytes{database="main"}')).toBeGreaterThan(10_000)
  })

  it('are what Prometheus wants, compressed if it wants, and name nobody', async () => {
    const answer = await ask(server)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    const text = await answer.text()
    expect(findFaults(text)).toBe('')
    expect(text).not.toMatch(/pt[nst]_|admin|203\.0\.113\.7/)
  })

  it('are explained in the documentation, each in the words that it has itself', async () => {
    const text = await (await ask(server)).text()
    const told = [...text.matchAll(/^# HELP (\S+) (.+)\n# TYPE \S+ (\S+)$/gm)].map(
      ([, name, help, kind]) => `| \`${name}\` | ${kind} | ${help} |`,
    )
    const docs = readFileSync(join(server.context.config.rootDir, 'docs/monitoring.md'), 'utf8')
    expect(docs.split('\n').filter((line) => line.startsWith('| `postern_'))).toEqual(told)
  })

  it('count on over an orderly restart, and never go back after a crash', async () => {
    const key = `postern_service_sent_bytes_total${of(ids.web, 'web')}`
    const rx = `postern_node_received_bytes_total{node_id="${ids.node}",${NODE}}`
    const before = (await scrape(server)).get(key) ?? 0
    const reopen = async (meanwhile?: () => unknown) => {
      await close()
      edge.close()
      await server.restart(undefined, meanwhile)
      close = await openMetricsOf(server)
    }
    await reopen()
    const again = await scrape(server)
    expect(again.get(key)).toBe(before)
    // What was saved of a node may be older than what was scraped last.
    expect(again.has(rx)).toBe(false)
    await connect()
    await count(ids.web, 1, 1, 100)
    expect((await scrape(server)).get(key)).toBe(before + 100)

    // As after a crash: nothing was kept.
    const { counters } = server.context.config.paths
    await reopen(() => rmSync(counters))
    expect((await scrape(server)).get(key)).toBe(0)
    await connect()
    await count(ids.web, 1, 1, 100)
    expect((await scrape(server)).get(key)).toBe(100)
  })

  it('follow a change of a name, and forget what is deleted', async () => {
    await client.patch(`/api/services/${ids.node}/http/${ids.web}`, { name: 'site' })
    await client.delete(`/api/services/${ids.node}/tcp/${ids.tcp}`)
    const found = [...(await scrape(server)).keys()]
    expect(found).toContain(`postern_service_requests_total${of(ids.web, 'site')}`)
    expect(found.filter((key) => key.includes('"mqtt"'))).toEqual([])
  })
})
