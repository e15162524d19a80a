import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { agentOn } from '@postern/testkit/agent'
import { startInstallation } from '@postern/testkit/installation'
import { startLab } from '@postern/testkit/lab/network'
import { type Prometheus, startPrometheus } from '@postern/testkit/lab/prometheus'
import { startListening } from '@postern/testkit/lab/upstreams'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  labelsIn,
  legendLabels,
  metricsIn,
  panelQueries,
  RULES,
  ruleLabels,
  ruleQueries,
  variables,
} from './queries.ts'

/** A real Prometheus looks at a real installation, and asks what the dashboard and the rules in deploy/grafana ask. */
const PORT = 9464
const COLLECTOR = 4318
const TOKEN = 'a-token-of-the-lab-for-metrics-0123456789'
const program = (name: string) =>
  new URL(`../../../packages/testkit/src/programs/${name}.ts`, import.meta.url).pathname

let prometheus: Prometheus
let collected: () => string
const lab = shared(startLab)

const installation = shared(() =>
  startInstallation(lab, {
    POSTERN_METRICS_ADDRESS: `0.0.0.0:${PORT}`,
    POSTERN_METRICS_TOKEN: TOKEN,
    POSTERN_OTLP_ENDPOINT: `http://127.0.0.1:${COLLECTOR}`,
  }),
)
beforeAll(async () => {
  const dir = `${installation.dataDir}/upstreams`
  const node = [process.execPath]
  const collector = await startListening(
    lab.server,
    [...node, program('collector'), `${COLLECTOR}`],
    dir,
    'collector',
    COLLECTOR,
  )
  collected = collector.output
  await startListening(lab.site, [...node, program('counted'), '8088', '7007'], dir, 'counted', 7007)
  const { api } = installation
  const office = await api.createNode({ name: 'office' })
  await agentOn(lab.site, installation).connect(office.token)
  const web = await api.publish(office.id, { name: 'web', domain: 'web.example.com', backendPort: 8088 })
  const dead = await api.publish(office.id, { name: 'dead', domain: 'dead.example.com', backendPort: 9 })
  const tcp = await api.publishPort(office.id, { name: 'tcp', backendPort: 7007 })
  const isIn = async (service: typeof web | typeof tcp, phase: string) =>
    (await api.getService(service)).state.phase === phase
  for (const service of [web, tcp]) await until('the service to be live', () => isIn(service, 'live'))
  await until('the dead one to be told', async () => {
    await visit(lab.visitor, 'https://dead.example.com/')
    return await isIn(dead, 'unanswered')
  })
  prometheus = await startPrometheus(lab.server, dir, {
    target: `127.0.0.1:${PORT}`,
    token: TOKEN,
    rules: [RULES],
  })
})
afterAll(async () => {
  await prometheus?.stop()
})

const get = (bytes: number) => visit(lab.visitor, `https://web.example.com/?bytes=${bytes}`)
const scrape = (...more: string[]) =>
  lab.server.must(
    'curl',
    '-s',
    '-m',
    '30',
    '-H',
    `Authorization: Bearer ${TOKEN}`,
    ...more,
    `http://127.0.0.1:${PORT}/metrics`,
  )
const value = async (query: string) => (await prometheus.query(query))[0]?.value ?? Number.NaN
const BYTES = 'sum(postern_service_sent_bytes_total{service="web"})'

/** A new edge counts first of all. */
async function countNow(): Promise<void> {
  await installation.edge.stop('SIGKILL')
  installation.startEdge()
}

test('a visitor who was counted is seen, and nothing Prometheus finds to say of a scrape', async () => {
  await get(1_000_000)
  await countNow()
  await until('the visitor to be seen', async () => (await value(BYTES)) >= 1_000_000)
  expect(await value('sum(postern_service_requests_total{service="web",node="office"})')).toBe(1)
  expect(await value('scrape_duration_seconds')).toBeLessThan(5)
  const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
    input: await scrape(),
    encoding: 'utf8',
  })
  expect([status, stdout, stderr]).toEqual([0, '', ''])
})

test('what is told of the edge, HAProxy and the programs is so', async () => {
  await until('the edge to be back', async () => (await value('postern_edge_up')) === 1)
  await until(
    'what it says of itself',
    async () => (await value('postern_process_open_fds{process="haproxy"}')) > 5,
  )
  for (const process of ['server', 'edge', 'haproxy']) {
    expect(await value(`postern_process_resident_memory_bytes{process="${process}"}`)).toBeGreaterThan(5e6)
    const age = await value(`time() - postern_process_start_time_seconds{process="${process}"}`)
    expect(age).toBeGreaterThan(0)
    expect(age).toBeLessThan(900)
  }
  const pid = installation.haproxyPid()
  const real = await lab.server.must('sh', '-c', `ls /proc/${pid}/fd | wc -l`)
  expect(Math.abs((await value('postern_process_open_fds{process="haproxy"}')) - Number(real))).toBeLessThan(
    20,
  )
  const [{ metric: haproxy = {} } = {}] = await prometheus.query('postern_haproxy_info')
  expect(haproxy.version).toMatch(/^3\./)
  expect(await value('postern_haproxy_requests_total')).toBeGreaterThan(0)
  await until('the tunnel', async () => (await value('postern_edge_part_up{part="wireguard"}')) === 1)
  expect(await value('time() - postern_node_last_handshake_timestamp_seconds')).toBeLessThan(180)
  expect(await value('postern_node_received_bytes_total')).toBeGreaterThan(0)
})

test('all that the dashboard and the rules ask for is there', async () => {
  // After a restart of the edge it is asked again.
  const text = await until('the dead service to be told', async () => {
    const all = await scrape()
    return all.includes('postern_service_problem{') && all
  })
  const labelsOf = (metric: string) =>
    new Set(
      [...text.matchAll(new RegExp(`^${metric}{(.*)} `, 'gm'))].flatMap(([, all = '']) =>
        [...all.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
      ),
    )
  const queries = [...panelQueries.map(([, query]) => query), ...ruleQueries]
  expect(panelQueries.length).toBeGreaterThan(25)
  for (const query of queries) {
    const metrics = metricsIn(query)
    expect(metrics.filter((metric) => !new RegExp(`^${metric}[{ ]`, 'm').test(text))).toEqual([])
    const known = new Set(metrics.flatMap((metric) => [...labelsOf(metric)]))
    expect([query, labelsIn(query).filter((label) => !known.has(label))]).toEqual([query, []])
  }
  const all = new Set([...text.matchAll(/(\w+)="/g)].map(([, label = '']) => label))
  expect([...ruleLabels, ...(legendLabels ?? [])].filter((label) => !all.has(label))).toEqual([])
  for (const { metric, label } of variables)
    expect([metric, [...labelsOf(metric)]]).toEqual([metric, expect.arrayContaining([label])])
})

test.each(panelQueries)('the panel “%s” shows something: %s', async (_title, query) => {
  await until('something to show', async () => (await prometheus.query(query)).length > 0)
})

test('Prometheus takes the rules, and one of them sees what is down', async () => {
  const { stdout, status } = spawnSync('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', RULES], {
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([0, expect.stringContaining('SUCCESS')])
  expect(ruleQueries.length).toBeGreaterThan(10)
  for (const query of ruleQueries) await prometheus.query(query)
  const pending = () => prometheus.query('ALERTS{alertname="PosternServiceDown"}')
  const found = await until('the rule', async () => (await pending())[0])
  expect(found.metric).toMatchObject({ service: 'dead', node: 'office', state: 'unanswered' })
})

test('counters go on over a restart of the server, and begin at zero after a crash', async () => {
  const before = await value(BYTES)
  await installation.server.stop()
  await installation.startServer()
  await get(100_000)
  await countNow()
  await until('the second visitor', async () => (await value(BYTES)) >= before + 100_000)
  expect(await value(`resets(postern_service_sent_bytes_total{service="web"}[5m])`)).toBe(0)

  await installation.server.stop('SIGKILL')
  await installation.startServer()
  await get(50_000)
  await countNow()
  await until('the third visitor', async () => {
    const now = await value(BYTES)
    return now >= 50_000 && now < before
  })
  expect(await value(`resets(postern_service_sent_bytes_total{service="web"}[5m])`)).toBe(1)
})

test('nobody reads metrics at the public address, with the token or without it', async () => {
  const token = ['-H', `Authorization: Bearer ${TOKEN}`]
  for (const args of [[], token])
    for (const path of ['/metrics', '/api/metrics']) {
      // The console answers, as it does at any address that is none.
      const { headers, body } = await visit(lab.visitor, `https://203.0.113.1${path}`, { args })
      expect(`${headers}${body}`).not.toMatch(/version=0\.0\.4|postern_/)
    }
  // All addresses are listened at, and those of the internet are closed.
  for (const host of [lab.visitor, lab.server])
    for (const address of ['203.0.113.1', '[2001:db8::1]']) {
      const { code, stdout } = await host.run(
        'curl',
        '-s',
        '-m',
        '5',
        ...token,
        `http://${address}:${PORT}/metrics`,
      )
      expect([code === 0, stdout]).toEqual([false, ''])
    }
  expect(
    await lab.server.must(
      'curl',
      '-s',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      `http://127.0.0.1:${PORT}/metrics`,
    ),
  ).toBe('401')
})

test('the collector is sent the log, and that of the edge', async () => {
  await until('the log', () => collected().includes('/v1/logs '))
  expect(collected()).toContain('"service.instance.id"')
  // Something that an edge has to say, before it has found the server.
  await installation.edge.stop()
  writeFileSync(installation.paths.counts, 'not JSON')
  installation.startEdge()
  await until('the edge to be heard', () => collected().includes('the previous counts cannot be read'))
  expect(collected()).not.toContain(TOKEN)
})
