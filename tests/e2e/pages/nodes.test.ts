import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { NOTHING_BEYOND } from '@postern/contract/agent/agent-report'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { Node } from '@postern/contract/nodes'
import { callApi } from '@postern/testkit/api'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { choose, menuItems } from '../steps.ts'

const site = shared(() => startSite())
const edge = shared(() => connectFakeEdge(site.paths))

describe('the list', () => {
  it('shows a node going online, and another going offline, without a reload', async () => {
    const node = await site.api.createNode({ name: 'live-node' })
    const { page } = await site.open('/nodes')
    await row(page, 'live-node').getByText('Offline').waitFor({ state: 'attached' })
    edge.sendPeers([figures(node, { latestHandshake: Date.now(), rx: 2048, tx: 1536, reachable: true })])
    await row(page, 'live-node').getByText('Online').waitFor({ state: 'attached' })
    await row(page, 'live-node').getByText('2.00').waitFor()
    edge.sendPeers([figures(node, { latestHandshake: Date.now() - 200_000, reachable: false })])
    await row(page, 'live-node').getByText('Offline').waitFor({ state: 'attached' })
  })

  it('shows a node that somebody else adds, and drops one that is deleted elsewhere', async () => {
    const { page } = await site.open('/nodes')
    await row(page, 'Local').waitFor()
    const node = await site.api.createNode({ name: 'from-elsewhere' })
    await row(page, 'from-elsewhere').waitFor()
    await site.api.call('DELETE', `/api/nodes/${node.id}`)
    await row(page, 'from-elsewhere').waitFor({ state: 'detached' })
  })

  it('filters by type and by text, and keeps both in the address', async () => {
    await site.api.createNode({ name: 'plain-one' })
    const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.77.0/24' }]
    await site.api.createNode({ name: 'gate-one', isGateway: true, gatewayNetworks })
    const { page } = await site.open('/nodes')
    await page.getByRole('button', { name: 'Gateways', exact: true }).click()
    await row(page, 'gate-one').waitFor()
    await row(page, 'plain-one').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Nodes', exact: true }).click()
    await row(page, 'plain-one').waitFor()
    await expect(row(page, 'Local')).toHaveCount(0)
    await page.getByRole('searchbox').fill('nothing like it')
    await page.getByRole('button', { name: 'Clear search' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Clear search' }).click()
    await row(page, 'plain-one').waitFor()
  })

  it('disconnects, connects and deletes a node after a confirmation, and says so', async () => {
    const node = await site.api.createNode({ name: 'handled' })
    await site.api.publish(node.id, { name: 'gone-with-it', domain: 'gone.example.com' })
    const visit = await site.open('/nodes')
    const { page } = visit
    await choose(page, 'Actions for handled', 'Disconnect')
    await page
      .getByText(
        'This closes the tunnel of handled. Its services stay configured but unreachable until it is connected again.',
      )
      .waitFor()
    await page.getByRole('button', { name: 'Yes, disconnect!' }).click()
    await page.getByText('Node disconnected successfully!').waitFor()
    expect((await site.api.getNode(node.id)).enabled).toBe(false)
    await choose(page, 'Actions for handled', 'Connect')
    await page.getByText('handled can connect again. Its services come back when it does.').waitFor()
    await page.getByRole('button', { name: 'Yes, connect!' }).click()
    await page.getByText('Node connected successfully!').waitFor()
    await choose(page, 'Actions for handled', 'Delete Node')
    const confirm = page.getByRole('alertdialog').or(page.getByRole('dialog')).filter({ hasText: 'handled' })
    await confirm
      .getByText('handled, its 1 service and its 1 access token. Visitors will get an error')
      .waitFor()
    await visit.expectAccessible()
    await page.getByRole('button', { name: 'Yes, delete it!' }).click()
    await page.getByText('Node deleted successfully!').waitFor()
    await row(page, 'handled').waitFor({ state: 'detached' })
  })

  it('offers nothing for the local node that it cannot do', async () => {
    const { page } = await site.open('/nodes')
    await row(page, 'Local')
      .getByRole('button', { name: /Actions/ })
      .click()
    const items = await menuItems(page)
    expect(items).toEqual(['View Node Details', 'Expose HTTP', 'Expose TCP'])
  })

  it('says that it could not be loaded, with a way to try again', async () => {
    const visit = await site.open('/')
    const { page } = visit
    visit.forgive(/500|Failed to load|The stream was lost/)
    // Only the button loads it again.
    await page.route('**/api/*/stream*', (route) => route.abort())
    await page.route('**/api/nodes?*', (route) =>
      route.fulfill({ status: 500, json: { message: 'Internal error', requestId: 'r1' } }),
    )
    await page.goto(`${site.origin}/nodes`)
    await page.getByRole('button', { name: 'Retry' }).waitFor()
    await page.getByRole('alert').getByText('Status 500, request r1').waitFor()
    await expect(page.getByText('No nodes yet')).toHaveCount(0)
    expect(visit.complaints).toContainEqual(
      expect.stringContaining('Failed to load /api/nodes: Internal error'),
    )
    await page.unroute('**/api/nodes?*')
    await page.getByRole('button', { name: 'Retry' }).click()
    await row(page, 'Local').waitFor()
  })
})

describe('a node page', () => {
  it('follows the node live and downloads its file', async () => {
    const node = await site.api.createNode({ name: 'detailed' })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    await page.getByRole('heading', { name: 'detailed' }).waitFor()
    edge.sendPeers([
      figures(node, { latestHandshake: Date.now(), rx: 5 * 1024 * 1024, clientIp: '198.51.100.9' }),
    ])
    await page.getByText('198.51.100.9').waitFor()
    await page.getByText('5.00 MB').waitFor()
    await visit.expectAccessible()
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Download Config' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe('postern-detailed.conf')
    expect(readFileSync(await download.path(), 'utf8')).toContain('[Interface]')
  })

  it('and its row say when the file knows fewer edges than there are, until it is downloaded again', async () => {
    const node = await site.api.createNode({ name: 'with-old-file' })
    await site.api.call('GET', `/api/nodes/${node.id}/download`)
    const visit = await site.open('/nodes')
    const { page } = visit
    const words = 'This file knows 1 of 2 edges: download it again'
    await row(page, 'with-old-file').waitFor()
    await expect(page.getByText(words)).toHaveCount(0)
    joinEdge('far', 2)
    // Each change of a node brings its row.
    await site.api.call('PATCH', `/api/nodes/${node.id}`, { keepalive: 20 })
    await row(page, 'with-old-file').getByText(words).waitFor()
    await visit.expectAccessible()
    await row(page, 'with-old-file').getByRole('link', { name: 'with-old-file', exact: true }).click()
    await page.getByRole('heading', { name: 'with-old-file' }).waitFor()
    await page.getByText(words).waitFor()
    await visit.expectAccessible()
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Download Config' }).click()
    expect(readFileSync(await (await downloading).path(), 'utf8').match(/^\[Peer\]$/gm)).toHaveLength(2)
    await page.getByText(words).waitFor({ state: 'detached' })
  })

  it('of a node that is deleted elsewhere says so within a second, with a way back', async () => {
    const node = await site.api.createNode({ name: 'short-lived' })
    const { page, forgive } = await site.open(`/nodes/${node.id}`)
    forgive(/404|Failed to load|The stream was lost/)
    await page.getByRole('heading', { name: 'short-lived' }).waitFor()
    await page.getByText('No HTTP services yet').waitFor()
    await site.api.call('DELETE', `/api/nodes/${node.id}`)
    // Five times as long as allowed, for a busy machine.
    await page.getByText('This node was deleted').waitFor({ timeout: 5000 })
    await page.getByRole('main').getByRole('link', { name: 'Client / Nodes' }).click()
    await page.getByRole('heading', { name: 'Client / Nodes' }).waitFor()
  })

  it("shows what a node's agent reports, on its page and under what needs attention", async () => {
    const node = await site.api.createNode({ name: 'watchful' })
    const { method, path } = endpoints.reportNode
    const report = (...takenPorts: object[]) =>
      callApi(site.paths.serverSocket, node.token, method, path, {
        ...{ takenPorts, takenRoutes: [], beyond: NOTHING_BEYOND },
      })
    const { page } = await site.open(`/nodes/${node.id}`)
    const words = page.getByText(
      'A program of user 1000 on this node also listens on UDP port 53, on 127.0.0.1',
    )
    await page.getByRole('heading', { name: 'watchful' }).waitFor()
    await report({ proto: 'udp', port: 53, place: 'loopback', user: 1000, owner: 0 })
    await words.waitFor()
    await page.goto(`${site.origin}/nodes/attention?search=watchful`)
    const rows = page.getByRole('table', { name: 'Needs Attention' }).getByRole('row')
    await expect(rows.filter({ has: words })).toContainText('watchful')
    await report()
    await words.waitFor({ state: 'detached' })
  })

  it('asks before a download replaces the key of an agent, and downloads when the answer is yes', async () => {
    const node = await site.api.createNode({ name: 'with-agent' })
    const publicKey = randomBytes(32).toString('base64')
    const { method, path } = endpoints.registerKey
    await callApi(site.paths.serverSocket, node.token, method, path, { publicKey })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    visit.forgive(/409/)
    const ask = () => choose(page, 'Actions', 'Download Config')
    await ask()
    const question = page.getByRole('alertdialog', { name: 'Replace the key of this node' })
    await visit.expectAccessible()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await ask()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      question.getByRole('button', { name: 'Yes, download!' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toContain('PrivateKey = ')
    await question.waitFor({ state: 'detached' })
  })

  it('of a node that does not exist says so, and leads back', async () => {
    const visit = await site.open('/nodes/999999')
    const { page } = visit
    visit.forgive(/404|Failed to load|The stream was lost/)
    await page.getByText('This node does not exist').waitFor()
    expect(visit.complaints).toContainEqual(
      expect.stringContaining('Failed to load /api/nodes/:id: Node not found'),
    )
    await visit.expectAccessible()
    await page
      .getByRole('main')
      .getByRole('link')
      .or(page.getByRole('main').getByRole('button'))
      .last()
      .click()
    await page.getByRole('heading', { name: 'Client / Nodes' }).waitFor()
  })
})

function row(page: Page, name: string) {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
}

function figures(
  node: Node,
  seen: { latestHandshake: number; rx?: number; tx?: number; clientIp?: string; reachable?: boolean },
) {
  return { nodeId: node.id, rx: 0, tx: 0, clientIp: '198.51.100.7', reachable: true, ...seen }
}

/** As if another machine had become an edge. */
function joinEdge(name: string, number: number): void {
  const database = new DatabaseSync(site.paths.database)
  const now = new Date().toISOString()
  const key = randomBytes(32).toString('base64')
  database
    .prepare(
      `INSERT INTO edges (name, number, token_hash, public_key, created_at, updated_at, joined_at)
       VALUES (?, ?, 'none', ?, ?, ?, ?)`,
    )
    .run(name, number, key, now, now, now)
  database.close()
}
