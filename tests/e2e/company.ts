import type { Domain } from '@postern/contract/domains'
import type { CreatedNode } from '@postern/contract/nodes'
import type { CreatedPat, Pat } from '@postern/contract/pats'
import { callApi } from '@postern/testkit/api'
import type { FakeEdge } from '@postern/testkit/fakes/fake-edge'
import { until } from '@postern/testkit/until'
import { putCertificate, type Standing } from './certificates.ts'
import type { Site } from './harness.ts'

export interface Company {
  office: number
  grafana: number
  dockerHost: number
  /** The nodes that are not gateways. */
  away: number[]
}

/** Handshakes grow older, so scenes in which their age matters get new ones. */
export async function sendFigures(site: Site, edge: FakeEdge, { office, away }: Company): Promise<void> {
  const now = Date.now()
  const seen = (nodeId: number, age: number, rx: number, tx: number, reachable = true) => {
    return { nodeId, latestHandshake: now - age, rx, tx, clientIp: '203.0.113.7', reachable }
  }
  const [nas = 0, warehouse = 0, greenhouse = 0] = away
  edge.sendPeers([
    seen(office, 12_000, 994_372_000, 599_862_000),
    seen(nas, 47_000, 65_928_000_000, 8_718_000_000),
    seen(warehouse, 130_000, 209_571, 90_265, false),
    seen(greenhouse, 3 * 86_400_000, 7_633_000, 934_338, false),
  ])
  await until('the figures to arrive', async () => (await site.api.getNode(office)).status === 'online')
}

/** A small company: enough to see every kind of row. */
export async function furnish(site: Site, edge: FakeEdge): Promise<Company> {
  const { api } = site
  let grafana = 0
  const gateway = await api.createNode({
    name: 'office',
    isGateway: true,
    gatewayNetworks: [{ interface: 'eth0', subnet: '192.168.7.0/24' }],
  })
  const office = gateway.id
  await furnishTokens(site, office)
  const agentDomains = ['*.example.com']
  const others = []
  for (const name of ['nas', 'warehouse', 'greenhouse', 'runner-02'])
    others.push(await api.createNode({ name, agentMayPublish: name === 'runner-02', agentDomains }))
  const services = [
    ['web', 'app.example.com', '192.168.7.12', 8080],
    ['api', 'api.example.com', '192.168.7.12', 9000],
    ['grafana', 'grafana.example.com', '192.168.7.31', 3000],
    ['wiki', 'wiki.example.com', 'wiki.lan', 443],
    ['legacy', 'legacy.example.com', '192.168.7.9', 8000],
  ] as const
  for (const [name, domain, backendHost, backendPort] of services) {
    const service = await api.publish(office, { name, domain, backendHost, backendPort })
    if (name === 'grafana') grafana = service.id
    if (name === 'legacy') await api.setEnabled(service, false)
    const message = 'The name wiki.lan cannot be resolved by the DNS of the gateway'
    if (name === 'wiki') await edge.setProblems([{ scope: { kind: 'service', id: service.id }, message }])
  }
  await furnishCertificates(site)
  await furnishPublished(site, others[3])
  const domain = 'grafana.example.com'
  await api.publishPort(office, {
    ...{ name: 'mqtt', domain, ssl: true },
    ...{ backendHost: '192.168.7.20', backendPort: 1883 },
  })
  const dns = { name: 'dns', proto: 'udp', backendHost: '192.168.7.1', backendPort: 53 } as const
  await api.publishPort(office, { ...dns, allowedIps: ['198.51.100.0/24'] })
  const away = others.map(({ id }) => id)
  const company = { office, grafana, away, dockerHost: away[3] ?? 0 }
  await sendFigures(site, edge, company)
  sendDay(edge, grafana)
  for (let line = 0; line < 40; line++) edge.log(grafana, logLine(line))
  return company
}

/** A day as people have it: calm at night, two busy hours, and one in which a service was slow. */
function sendDay(edge: FakeEdge, service: number): void {
  const now = Date.now()
  for (let ago = 143; ago >= 0; ago--) {
    const at = now - ago * 600_000
    const hour = new Date(at).getHours() + new Date(at).getMinutes() / 60
    const busy = Math.round(
      20 + 90 * Math.exp(-((hour - 10) ** 2) / 8) + 60 * Math.exp(-((hour - 20) ** 2) / 5),
    )
    const isSlow = ago > 30 && ago < 38
    const count = busy + ((ago * 7919) % 17)
    const few = Math.floor(count / 12)
    const buckets = isSlow
      ? [0, 0, 0, 0, 0, few, few, few, few, few, few, few, few, few, few, few, few]
      : [0, 0, few, few, 4 * few, 3 * few, few, few, ago % 9 ? 0 : 2]
    edge.sendCounts(
      [[service, count, count * 430, count * 78_000]],
      [[service, isSlow ? few : 0, buckets]],
      at,
    )
  }
}

/** Services that an agent has published. */
async function furnishPublished(site: Site, node: CreatedNode | undefined): Promise<void> {
  if (!node) return
  const form = { type: 'http', backendPort: 8080 }
  const domain = 'ci.example.com'
  const name = 'a registry with a long name'
  const services = [
    { ...form, key: 'ci', name: 'ci', domain, allowedIps: ['198.51.100.0/24'] },
    { ...form, key: 'registry', name, domain: 'registry.example.com' },
    { ...form, key: 'git', type: 'tcp', name: 'git', domain, ssl: true },
  ]
  const set = { source: 'docker', services }
  await callApi(site.paths.serverSocket, node.token, 'PUT', '/api/agent/services', set)
}

/** One of each state. */
async function furnishCertificates(site: Site): Promise<void> {
  const detail = 'CAA record for wiki.example.com prevents issuance'
  const standings: Record<string, Standing> = {
    'app.example.com': { endsIn: 48 },
    'api.example.com': { endsIn: 71 },
    // It stays pending until its picture is taken.
    'grafana.example.com': { problem: { code: 'unreachable', detail: 'Timeout during connect' } },
    'wiki.example.com': { problem: { code: 'caa', detail } },
  }
  const domains = (await site.api.call('GET', '/api/domains')).json as Domain[]
  for (const { id, domain } of domains) {
    const standing = standings[domain]
    if (standing) await putCertificate(site, id, standing)
  }
}

/** One of each status, except expired, which takes a day to reach. */
async function furnishTokens(site: Site, office: number): Promise<void> {
  const pats = `/api/nodes/${office}/pats`
  await site.api.call('POST', pats, { name: 'old-laptop' })
  const tokens = (await site.api.call('GET', pats)).json as Pat[]
  await site.api.call('PATCH', `${pats}/${tokens[0]?.id}/revoke`)
  const form = { name: 'ci-runner', expireAt: '2031-03-31T21:59:59.999Z' }
  // `callApi` checks the answer against the contract.
  const { token } = (await site.api.call('POST', pats, form)).json as CreatedPat
  await callApi(site.paths.serverSocket, token, 'GET', '/api/agent/config')
}

function logLine(index: number): string {
  const time = new Date(1795255200000 + index * 1730).toISOString()
  if (index % 13 === 7) return `[WARN] ${time} 198.51.100.4 "GET /favicon.ico" 404 153B 2ms`
  if (index % 17 === 11)
    return `[ERROR] ${time} 203.0.113.5 "GET /api/live" 504 1.1KB 30000ms the service did not answer in time`
  return `[INFO] ${time} 203.0.113.5 "GET /api/live" 200 ${(index % 9) + 1}.2KB ${(index * 7) % 40}ms`
}
