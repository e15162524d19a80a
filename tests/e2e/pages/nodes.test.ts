import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { NOTHING_BEYOND } from '@postern/contract/agent-report'
import { endpoints } from '@postern/contract/endpoints'
import type { Node } from '@postern/contract/nodes'
import { callApi } from '@postern/testkit/api'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, type Site, startSite } from '../harness.ts'
import { choose, expectClipboard, menuItems } from '../steps.ts'

let site: Site
let edge: FakeEdge

beforeAll(async () => {
  site = await startSite()
  edge = await connectFakeEdge(site.paths)
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

describe('creating a node', () => {
  it('shows the one-time token and the command that connects it, and adds the row', async () => {
    const visit = await site.open('/nodes')
    const { page } = visit
    await page.getByRole('button', { name: 'Add Client' }).first().click()
    const form = page.getByRole('dialog', { name: 'Client / Node Configuration' })
    await form.getByLabel(label('Name')).fill('office')
    await visit.expectAccessible()
    await page.keyboard.press('Enter')
    const ready = page.getByRole('dialog', { name: 'Your Node is Ready' })
    await ready.waitFor()
    await visit.expectAccessible()
    for (const text of [
      'Recommended',
      'This token is visible only once. Store it securely.',
      'The command stores the token on the machine.',
      "If you lose it, generate a new one on the node's page.",
      'Configuring postern...',
      'Connecting node...',
      'Connection established!',
    ])
      await ready.getByText(text).first().waitFor()
    await expect(ready.getByLabel('Node token', { exact: true })).toHaveAttribute('readonly')
    await expect(ready.locator('ol > li h4')).toHaveText([/^Install the CLI/, /^Connect the machine/])
    const install = ready.getByLabel('Install command', { exact: true })
    // One line, however long, that scrolls sideways.
    const sizes = await install.evaluate(({ clientHeight, clientWidth, scrollWidth }) => ({
      lines: clientHeight < 40,
      scrolls: scrollWidth > clientWidth,
    }))
    expect(sizes).toEqual({ lines: true, scrolls: true })
    await ready.getByRole('button', { name: 'Copy install command' }).click()
    const installed = await expectClipboard(page, /^f=\$\(mktemp\) /)
    expect(installed).toBe(await install.inputValue())
    expect(installed).toMatch(/^\S.*echo "[0-9a-f]{64} {2}\S+" \| sha256sum -c && .*\S$/)
    const token = await ready.getByLabel(/token/i).first().inputValue()
    expect(token).toMatch(/^ptn_\S{30,}$/)
    await page.keyboard.press('Escape')
    await ready.waitFor()
    await ready.getByRole('button', { name: 'Copy command', exact: true }).click()
    const copied = await expectClipboard(page, /^.*postern connect/)
    const command =
      /^echo (\S+) \| postern connect --url=https:\/\/203\.0\.113\.1 --token - --fingerprint=sha256:[0-9a-f]{64}$/
    expect(command.exec(copied)?.[1]).toBe(token)
    await ready.getByRole('button', { name: 'Copy short command' }).click()
    const short = await expectClipboard(page, /^postern connect/)
    expect(short).toMatch(
      /^postern connect --url=https:\/\/203\.0\.113\.1 --token=\S+ --fingerprint=sha256:\w{64}$/,
    )
    expect(short).toContain(`--token=${token} `)
    // What is on the screen beside the token's own field shows it nowhere.
    const shown = await ready.innerText()
    expect(shown).toContain('--token=SECRET')
    expect(shown).not.toContain(token)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      ready.getByRole('button', { name: 'Download Configuration' }).click(),
    ])
    expect(file.suggestedFilename()).toBe('postern-office.conf')
    await ready.getByRole('button', { name: 'Got it!' }).click()
    await row(page, 'office').waitFor()
    visit.expectNoComplaints()
    await visit.close()
  })

  it('waits for the node, says where it came from, and goes on to a service', async () => {
    const visit = await site.open('/nodes')
    const { page } = visit
    await page.getByRole('button', { name: 'Add Client' }).first().click()
    await page.getByLabel(label('Name')).fill('workshop')
    await page.keyboard.press('Enter')
    const ready = page.getByRole('dialog', { name: 'Your Node is Ready' })
    await ready.getByText('Waiting for workshop…').waitFor()
    await expect(ready.getByRole('button', { name: 'Expose a service' })).toHaveCount(0)
    const nodes = (await site.api.call('GET', '/api/nodes?search=workshop')).json as Node[]
    const [node] = nodes
    if (!node) throw new Error('The node was not created')
    edge.sendPeers([figures(node, { latestHandshake: Date.now(), clientIp: '203.0.113.7' })])
    await ready.getByText('Connected from 203.0.113.7').waitFor()
    await expect(ready.locator('.lucide-circle-check')).toHaveCount(1)
    await expect(ready.getByText('Waiting for workshop…')).toHaveCount(0)
    await visit.expectAccessible()
    await ready.getByRole('button', { name: 'Expose a service' }).click()
    const form = page.getByRole('dialog', { name: 'Expose HTTP Service on Node' })
    await expect(form.getByLabel('Node Name')).toHaveValue('workshop')
    visit.expectNoComplaints()
    await visit.close()
  })

  it('shows every error under its field, also inside the rows of a gateway, and loses nothing', async () => {
    const visit = await site.open('/nodes')
    const { page } = visit
    visit.forgive(/422|The form was not saved/)
    await page.getByRole('button', { name: 'Add Client' }).first().click()
    const form = page.getByRole('dialog', { name: 'Client / Node Configuration' })
    await form.getByLabel('Act as a network gateway').check()
    await expect(form.getByRole('textbox', { name: 'Interface' }).first()).toHaveValue('eth0')
    await form.getByRole('textbox', { name: 'Subnet' }).first().fill('10.64.0.0/24')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('This field is required').waitFor()
    await form.getByLabel(label('Name')).fill('overlapping')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.locator('[aria-invalid="true"]').first().waitFor()
    const subnet = form.getByRole('textbox', { name: 'Subnet' }).first()
    await expect(subnet).toHaveAttribute('aria-invalid', 'true')
    await expect(subnet).toHaveValue('10.64.0.0/24')
    await visit.expectAccessible()
    visit.expectNoComplaints()
    await visit.close()
  })
})

describe('the list', () => {
  it('turns a node online, and another offline, without a reload', async () => {
    const node = await site.api.createNode({ name: 'live-node' })
    const visit = await site.open('/nodes')
    const { page } = visit
    await row(page, 'live-node').getByText('Offline').waitFor({ state: 'attached' })
    edge.sendPeers([figures(node, { latestHandshake: Date.now(), rx: 2048, tx: 1536, reachable: true })])
    await row(page, 'live-node').getByText('Online').waitFor({ state: 'attached' })
    await row(page, 'live-node').getByText('2.00').waitFor()
    edge.sendPeers([figures(node, { latestHandshake: Date.now() - 200_000, reachable: false })])
    await row(page, 'live-node').getByText('Offline').waitFor({ state: 'attached' })
    visit.expectNoComplaints()
    await visit.close()
  })

  it('shows a node that somebody else adds, and drops one that is deleted elsewhere', async () => {
    const visit = await site.open('/nodes')
    const { page } = visit
    await row(page, 'Local').waitFor()
    const node = await site.api.createNode({ name: 'from-elsewhere' })
    await row(page, 'from-elsewhere').waitFor()
    await site.api.call('DELETE', `/api/nodes/${node.id}`)
    await row(page, 'from-elsewhere').waitFor({ state: 'detached' })
    visit.expectNoComplaints()
    await visit.close()
  })

  it('filters by type and by text, and keeps both in the address', async () => {
    await site.api.createNode({ name: 'plain-one' })
    const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.77.0/24' }]
    await site.api.createNode({ name: 'gate-one', isGateway: true, gatewayNetworks })
    const visit = await site.open('/nodes')
    const { page } = visit
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
    visit.expectNoComplaints()
    await visit.close()
  })

  it('disconnects, connects and deletes a node after a confirmation, and says so', async () => {
    const node = await site.api.createNode({ name: 'handled' })
    await site.api.publish(node.id, { name: 'gone-with-it', domain: 'gone.example.com' })
    const visit = await site.open('/nodes')
    const { page } = visit
    await act(page, 'handled', 'Disconnect')
    await page
      .getByText(
        'This closes the tunnel of handled. Its services stay configured but unreachable until it is connected again.',
      )
      .waitFor()
    await page.getByRole('button', { name: 'Yes, disconnect!' }).click()
    await page.getByText('Node disconnected successfully!').waitFor()
    expect((await site.api.getNode(node.id)).enabled).toBe(false)
    await act(page, 'handled', 'Connect')
    await page.getByText('handled can connect again. Its services come back when it does.').waitFor()
    await page.getByRole('button', { name: 'Yes, connect!' }).click()
    await page.getByText('Node connected successfully!').waitFor()
    await act(page, 'handled', 'Delete Node')
    const confirm = page.getByRole('alertdialog').or(page.getByRole('dialog')).filter({ hasText: 'handled' })
    await confirm
      .getByText('handled, its 1 service and its 1 access token. Visitors will get an error')
      .waitFor()
    await visit.expectAccessible()
    await page.getByRole('button', { name: 'Yes, delete it!' }).click()
    await page.getByText('Node deleted successfully!').waitFor()
    await row(page, 'handled').waitFor({ state: 'detached' })
    visit.expectNoComplaints()
    await visit.close()
  })

  it('offers the local node nothing that it cannot do', async () => {
    const visit = await site.open('/nodes')
    const { page } = visit
    await row(page, 'Local')
      .getByRole('button', { name: /Actions/ })
      .click()
    const items = await menuItems(page)
    expect(items).toEqual(['View Node Details', 'Expose HTTP', 'Expose TCP'])
    visit.expectNoComplaints()
    await visit.close()
  })

  it('says that it could not be loaded, with a way to try again', async () => {
    const visit = await site.open('/')
    const { page } = visit
    visit.forgive(/500|Failed to load|The stream was lost/)
    // Nothing but the button loads it again.
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
    visit.expectNoComplaints()
    await visit.close()
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
    visit.expectNoComplaints()
    await visit.close()
  })

  it('of a node that is deleted elsewhere says so within a second, with a way back', async () => {
    const node = await site.api.createNode({ name: 'short-lived' })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    visit.forgive(/404|Failed to load|The stream was lost/)
    await page.getByRole('heading', { name: 'short-lived' }).waitFor()
    await page.getByText('No HTTP services yet').waitFor()
    await site.api.call('DELETE', `/api/nodes/${node.id}`)
    // Five times as long as it may take, for a busy machine.
    await page.getByText('This node was deleted').waitFor({ timeout: 5000 })
    await page.getByRole('main').getByRole('link', { name: 'Client / Nodes' }).click()
    await page.getByRole('heading', { name: 'Client / Nodes' }).waitFor()
    visit.expectNoComplaints()
    await visit.close()
  })

  it('shows what the agent of a node sees, on its page and among what needs attention', async () => {
    const node = await site.api.createNode({ name: 'watchful' })
    const { method, path } = endpoints.reportNode
    const report = (...takenPorts: object[]) =>
      callApi(site.paths.serverSocket, node.token, method, path, {
        ...{ takenPorts, takenRoutes: [], beyond: NOTHING_BEYOND },
      })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
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
    visit.expectNoComplaints()
    await visit.close()
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
    visit.expectNoComplaints()
    await visit.close()
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
    visit.expectNoComplaints()
    await visit.close()
  })
})

function row(page: Page, name: string) {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
}

async function act(page: Page, name: string, item: string): Promise<void> {
  await row(page, name)
    .getByRole('button', { name: /Actions/ })
    .click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}

function figures(
  node: Node,
  seen: { latestHandshake: number; rx?: number; tx?: number; clientIp?: string; reachable?: boolean },
) {
  return { nodeId: node.id, rx: 0, tx: 0, clientIp: '198.51.100.7', reachable: true, ...seen }
}
