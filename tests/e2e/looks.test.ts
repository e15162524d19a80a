import type { Domain } from '@postern/contract/domains'
import type { CreatedNode } from '@postern/contract/nodes'
import type { CreatedPat, Pat } from '@postern/contract/pats'
import { callApi } from '@postern/testkit/api'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import { until } from '@postern/testkit/until'
import type { Page } from 'playwright'
import { afterAll, beforeAll } from 'vitest'
import { putCertificate, type Standing, showStep } from './certificates.ts'
import { label, type Site, startSite } from './harness.ts'
import { lookAt, type Scene } from './scenes.ts'

/** Every page and every dialog of a small company. */
let site: Site
let edge: FakeEdge
/** The nodes that are no gateway. */
let away: number[] = []
let office: number
let grafana: number
let dockerHost: number

const scenes: Scene[] = [
  { name: 'login', path: () => '/login', signedIn: false, shows: 'Sign in' },
  { name: 'home', path: () => '/', shows: 'Create Node' },
  { name: 'nodes', path: () => '/nodes', shows: 'office' },
  { name: 'attention', path: () => '/nodes/attention', shows: 'cannot be resolved' },
  { name: 'palette', path: () => '/nodes', act: openPalette, shows: 'Expose HTTP on office' },
  { name: 'shortcuts', path: () => '/nodes', act: openShortcuts, shows: 'Go from row to row' },
  { name: 'node', path: () => `/nodes/${office}`, shows: 'grafana' },
  { name: 'domains', path: () => '/domains', act: showPending, shows: 'the authority is checking' },
  { name: 'domain-services', path: () => '/domains', act: openServices, shows: 'Proxy -> 192.168.7.31:3000' },
  { name: 'domain-form', path: () => '/domains', act: openDomainForm, shows: 'Issued and renewed' },
  { name: 'domain-skip', path: () => '/domains', act: openSkippingForm, shows: 'Self-Signed when skipping' },
  { name: 'logs', path: () => `/nodes/${office}/http/${grafana}/logs`, shows: 'GET /api/live' },
  { name: 'docs', path: () => '/docs', signedIn: false, shows: 'Quick start' },
  { name: 'docs-page', path: () => '/docs/settings', signedIn: false, shows: 'The first account' },
  {
    name: 'docs-search',
    path: () => '/docs/cli',
    signedIn: false,
    act: openDocsSearch,
    shows: 'Domains and certificates',
  },
  { name: 'not-found', path: () => '/no/such/page', shows: 'Try searching for something else!' },
  { name: 'node-form', path: () => '/nodes', act: openNodeForm, shows: 'Act as a network gateway' },
  { name: 'node-ready', path: () => '/nodes', act: createNode, shows: 'Your Node is Ready' },
  { name: 'http-form', path: () => `/nodes/${office}`, act: openServiceForm, shows: 'Blocked IPs' },
  { name: 'tcp-form', path: () => `/nodes/${office}`, act: openPortForm, shows: 'Enable SSL Termination' },
  {
    name: 'tcp-info',
    path: () => `/nodes/${office}`,
    act: openPortInfo,
    shows: 'tcp://192.168.7.20:1883',
  },
  {
    name: 'service-info',
    path: () => `/nodes/${office}`,
    act: openInfo,
    shows: 'Your Service is Now Publicly Available',
  },
  { name: 'published-services', path: () => `/nodes/${dockerHost}`, shows: 'Docker' },
  {
    name: 'published-form',
    path: () => `/nodes/${dockerHost}`,
    act: openPublished,
    shows: 'HTTP Service: ci',
  },
  { name: 'token-form', path: () => `/nodes/${office}`, act: openTokenForm, shows: 'Define when the token' },
  {
    name: 'token-ready',
    path: () => `/nodes/${office}`,
    act: createToken,
    shows: 'New Access Token Generated',
  },
  { name: 'token-revoke', path: () => `/nodes/${office}`, act: openRevoke, shows: 'Yes, revoke token!' },
  { name: 'confirm', path: () => `/nodes/${office}`, act: openConfirm, shows: 'Yes' },
]

beforeAll(async () => {
  site = await startSite()
  edge = await connectFakeEdge(site.paths)
  await furnish()
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

lookAt(() => site, scenes, {
  widths: [
    [1440, 1024],
    [390, 360],
  ],
  axe: [1440, 390],
})

/** Handshakes are as old as they are in the pictures only for a while, so scenes in which it matters have them anew. */
async function sendFigures(): Promise<void> {
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
async function furnish(): Promise<void> {
  const { api } = site
  const gateway = await api.createNode({
    name: 'office',
    isGateway: true,
    gatewayNetworks: [{ interface: 'eth0', subnet: '192.168.7.0/24' }],
  })
  office = gateway.id
  await furnishTokens()
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
  await furnishCertificates()
  await furnishPublished(others[3])
  const domain = 'grafana.example.com'
  await api.publishPort(office, {
    ...{ name: 'mqtt', domain, ssl: true },
    ...{ backendHost: '192.168.7.20', backendPort: 1883 },
  })
  const dns = { name: 'dns', proto: 'udp', backendHost: '192.168.7.1', backendPort: 53 } as const
  await api.publishPort(office, { ...dns, allowedIps: ['198.51.100.0/24'] })
  away = others.map(({ id }) => id)
  await sendFigures()
  for (let line = 0; line < 40; line++) edge.log(grafana, logLine(line))
}

/** What an agent has published by itself. */
async function furnishPublished(node: CreatedNode | undefined): Promise<void> {
  if (!node) return
  dockerHost = node.id
  const form = { backendPort: 8080 }
  const services = [
    {
      ...form,
      key: 'ci',
      type: 'http',
      name: 'ci',
      domain: 'ci.example.com',
      allowedIps: ['198.51.100.0/24'],
    },
    {
      ...form,
      key: 'registry',
      type: 'http',
      name: 'a registry with a long name',
      domain: 'registry.example.com',
    },
    { ...form, key: 'git', type: 'tcp', name: 'git', domain: 'ci.example.com', ssl: true },
  ]
  const set = { source: 'docker', services }
  await callApi(site.paths.serverSocket, node.token, 'PUT', '/api/agent/services', set)
}

/** One of each state. */
async function furnishCertificates(): Promise<void> {
  const detail = 'CAA record for wiki.example.com prevents issuance'
  const standings: Record<string, Standing> = {
    'app.example.com': { endsIn: 48 },
    'api.example.com': { endsIn: 71 },
    // Until its picture, where it is pending.
    'grafana.example.com': { problem: { code: 'unreachable', detail: 'Timeout during connect' } },
    'wiki.example.com': { problem: { code: 'caa', detail } },
  }
  const domains = (await site.api.call('GET', '/api/domains')).json as Domain[]
  for (const { id, domain } of domains) {
    const standing = standings[domain]
    if (standing) await putCertificate(site, id, standing)
  }
}

/** One of each status, but for an expired one, which takes a day to make. */
async function furnishTokens(): Promise<void> {
  const pats = `/api/nodes/${office}/pats`
  await site.api.call('POST', pats, { name: 'old-laptop' })
  const tokens = (await site.api.call('GET', pats)).json as Pat[]
  await site.api.call('PATCH', `${pats}/${tokens[0]?.id}/revoke`)
  const form = { name: 'ci-runner', expireAt: '2031-03-31T21:59:59.999Z' }
  // `callApi` holds the answer against the contract.
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

async function showPending(page: Page): Promise<void> {
  await showStep(page, 'grafana.example.com', 'validating')
  await page.reload()
}

async function openDocsSearch(page: Page): Promise<void> {
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Search the documentation' }).fill('certificate')
}

async function openPalette(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Search and commands' }).click()
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('off')
}

async function openShortcuts(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'office' }).waitFor()
  await page.keyboard.press('?')
}

async function openDomainForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Domain' }).click()
  await page.getByLabel(label('Domain')).fill('shop.example.com')
  await page.getByLabel('SSL Certificate Type').selectOption('certbot')
}

async function openSkippingForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for legacy.example.com' }).click()
  await page.getByRole('menuitem', { name: 'Edit Domain' }).click()
}

async function openNodeForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Client' }).first().click()
  await page.getByLabel('Act as a network gateway').check()
}

async function createNode(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Client' }).first().click()
  await page.getByLabel(label('Name')).fill('attic')
  await page.keyboard.press('Enter')
}

async function openServiceForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Service' }).first().click()
  await page.getByLabel(label('Service Name')).fill('printer')
  await page.getByLabel(label('Public Domain')).fill('printer.example.com')
  await page.getByLabel(label('Hostname/IP')).fill('192.168.7.40')
  await page.locator('.options').waitFor({ state: 'detached' })
}

async function openPublished(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for ci' }).click()
  await page.getByRole('menuitem', { name: 'Show Settings' }).click()
}

async function openPortForm(page: Page): Promise<void> {
  await page
    .getByRole('region', { name: 'TCP Services' })
    .getByRole('button', { name: 'Add Service' })
    .click()
  await page.getByLabel(label('Service Name')).fill('mail')
  await page.getByLabel('Enable SSL Termination').check()
}

async function openPortInfo(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for mqtt' }).click()
  await page.getByRole('menuitem', { name: 'Info' }).click()
}

async function openInfo(page: Page): Promise<void> {
  await sendFigures()
  await page.getByRole('button', { name: 'Actions for grafana' }).click()
  await page.getByRole('menuitem', { name: 'Info' }).click()
}

async function openConfirm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for grafana' }).click()
  await page.getByRole('menuitem', { name: 'Delete Service' }).click()
}

async function openServices(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Services of grafana.example.com' }).click()
}

async function openTokenForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Token' }).click()
  await page.getByLabel(label('Name')).fill('van')
}

async function createToken(page: Page): Promise<void> {
  await openTokenForm(page)
  await page.getByLabel('Expire At (Optional)').fill('03/31/2031')
  await page.keyboard.press('Enter')
}

async function openRevoke(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for token ci-runner' }).click()
  await page.getByRole('menuitem', { name: 'Revoke' }).click()
}
