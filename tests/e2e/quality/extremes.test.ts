import type { CreatedNode } from '@postern/contract/nodes'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fakes/fake-edge'
import type { Page } from 'playwright'
import { afterAll, beforeAll } from 'vitest'
import { label, type Site, startSite } from '../harness.ts'
import { lookAt, type Scene } from '../scenes.ts'
import { choose } from '../steps.ts'

/** The longest, the most and the least of everything: nothing overflows, nothing is cut off silently. */
const LONG_NAME = `${'Donaudampfschifffahrtsgesellschaftskapitaensmuetzen'.repeat(2)}`.slice(0, 100)
const LONG_DOMAIN = `${`${'a'.repeat(60)}.`.repeat(4)}de`.slice(-253)
const LONG_PATH = `/${'pfad-ohne-ende/'.repeat(12)}ende`

let site: Site
let empty: Site
let edge: FakeEdge
let node: CreatedNode
let service: number

const scenes: Scene[] = [
  { name: 'long-home', path: () => '/', shows: 'Recent Changes' },
  { name: 'long-nodes', path: () => '/nodes', shows: LONG_NAME },
  { name: 'long-node', path: () => `/nodes/${node.id}`, shows: 'Proxy ->' },
  { name: 'long-domains', path: () => '/domains', act: expandDomain, shows: 'Proxy ->' },
  { name: 'long-logs', path: () => `/nodes/${node.id}/http/${service}/logs`, shows: 'GET /x' },
  { name: 'long-info', path: () => `/nodes/${node.id}`, act: openInfo, shows: "isn't available" },
  { name: 'long-confirm', path: () => `/nodes/${node.id}`, act: openConfirm, shows: 'Delete node' },
  { name: 'long-node-form', path: () => `/nodes/${node.id}`, act: openNodeForm, shows: 'Add Interface' },
  { name: 'long-http-form', path: () => `/nodes/${node.id}`, act: openServiceForm, shows: 'd10.example.com' },
  { name: 'no-match', path: () => '/nodes?search=nothing-like-it&type=gateways', shows: 'Nothing matches' },
  { name: 'failed', path: () => '/domains', act: failDomains, shows: 'Retry', forgive: /Failed to load/ },
  { name: 'broken', path: () => '/', act: breakParts, shows: 'WireGuard is missing' },
]
const emptyScenes: Scene[] = [
  { name: 'zero-home', path: () => '/', shows: 'First Steps' },
  { name: 'zero-nodes', path: () => '/nodes', shows: 'No nodes yet' },
  { name: 'zero-domains', path: () => '/domains', shows: 'No domains yet' },
  { name: 'local-node', path: () => '/nodes/1', shows: 'Console' },
]

beforeAll(async () => {
  ;[site, empty] = await Promise.all([startSite(), startSite()])
  edge = await connectFakeEdge(site.paths)
  const gatewayNetworks = Array.from({ length: 40 }, (_, index) => ({
    interface: `eth${index}`,
    subnet: `192.168.${100 + index}.0/24`,
  }))
  node = await site.api.createNode({ name: LONG_NAME, isGateway: true, advanced: true, gatewayNetworks })
  const allowedIps = Array.from(
    { length: 12 },
    (_, index) => `2001:db8:1234:5678:9abc:def0:1234:${1000 + index}`,
  )
  const { id } = await site.api.publish(node.id, {
    name: LONG_NAME,
    domain: LONG_DOMAIN,
    pathLocation: LONG_PATH,
    backendHost: '192.168.139.254',
    backendPort: 65535,
    allowedIps,
  })
  service = id
  for (let index = 0; index < 20; index++) await site.api.createDomain({ domain: `d${index}.example.com` })
  const message = 'The name ein-sehr-langer-rechnername-im-internen-netz.example.internal cannot be resolved'
  await edge.setProblems([{ scope: { kind: 'service', id }, message }])
  edge.log(id, `[ERROR] 2026-11-21T10:00:01.123Z 2001:db8::1 "GET /x${'y'.repeat(400)}" 503 0B 3ms`)
})
afterAll(async () => {
  edge?.close()
  await Promise.all([site?.close(), empty?.close()])
})

const PLAN = { widths: [[1440, 1024], [360]], axe: [360] } as const
lookAt(() => site, scenes, PLAN)
lookAt(() => empty, emptyScenes, PLAN)

async function expandDomain(page: Page): Promise<void> {
  await page.goto(`${site.origin}/domains?search=aaa`)
  await page.getByRole('button', { name: /^Services of/ }).click()
}

async function openInfo(page: Page): Promise<void> {
  await choose(page, `Actions for ${LONG_NAME}`, 'Info')
}

async function openConfirm(page: Page): Promise<void> {
  await choose(page, 'Actions', 'Delete Node')
}

async function openNodeForm(page: Page): Promise<void> {
  await choose(page, 'Actions', 'Edit Node')
}

async function openServiceForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add Service' }).first().click()
  await page.getByLabel(label('Public Domain')).click()
}

/** Only during this scene. */
async function failDomains(page: Page): Promise<void> {
  await page.route('**/api/domains?*', (route) =>
    route.fulfill({ status: 200, json: { message: 'not what a list looks like' } }),
  )
  await page.reload()
}

async function breakParts(): Promise<void> {
  await edge.setDataPlane({ wireguard: { state: 'missing', detail: 'wireguard-go is not installed' } })
}
