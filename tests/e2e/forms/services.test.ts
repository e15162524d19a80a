import type { CreatedNode } from '@postern/contract/nodes'
import type { HttpService } from '@postern/contract/services'
import { callApi } from '@postern/testkit/api'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import { until } from '@postern/testkit/until'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, it, onTestFinished } from 'vitest'
import { expect } from '../expect.ts'
import { label, type Site, startSite, type Visit } from '../harness.ts'

let site: Site
let edge: FakeEdge
let node: CreatedNode

beforeAll(async () => {
  site = await startSite()
  edge = await connectFakeEdge(site.paths)
  node = await site.api.createNode({ name: 'office' })
  edge.sendPeers([onlinePeer(node.id)])
  await until('the node to be online', async () => (await site.api.getNode(node.id)).status === 'online')
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

describe('publishing an HTTP service', () => {
  it('goes from the form to the info dialog to a live row, and the edge gets the route', async () => {
    const { visit, page, form } = await openForm()
    await expect(form.getByLabel(label('Public HTTP Path'))).toHaveAttribute('placeholder', '/')
    await expect(form.getByLabel(label('Backend Port'))).toHaveValue('80')
    await expect(form.getByLabel(label('Hostname/IP'))).toBeDisabled()
    await form.getByLabel(label('Service Name')).fill('web')
    // What is pasted from the bar of a browser.
    await form.getByLabel(label('Public Domain')).fill('https://web.example.com/')
    await expect(form.getByLabel(label('Public Domain'))).toHaveValue('web.example.com')
    await form.getByLabel(label('Backend Port')).fill('8080')
    await visit.expectAccessible()
    await form.getByRole('button', { name: 'Save' }).click()
    // No resolver of this machine knows the name: the form offers to go on without the look-up.
    visit.forgive(/422|The form was not saved/)
    await form.getByLabel('Skip Domain Validation').check()
    await form.getByRole('button', { name: 'Save' }).click()
    const info = page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' })
    await info.getByText('https://web.example.com/').first().waitFor()
    await info.getByText('http://localhost:8080').waitFor()
    // What the edge cannot see.
    await info.getByText('DNS was not checked: visitors reach it once web.example.com points').waitFor()
    await info.getByText('Self-signed: browsers warn until they').waitFor()
    await info.getByText('No restrictions').waitFor()
    await visit.expectAccessible()
    await info.getByRole('button', { name: 'Got it!' }).click()
    await row(page, 'web').getByText('Live').waitFor()
    const route = edge.state()?.sections.routes?.find(({ domain }) => domain === 'web.example.com')
    expect(route).toMatchObject({
      path: '/',
      backend: { proto: 'http', host: null, port: 8080 },
      enabled: true,
    })
    visit.expectNoComplaints()
    await visit.close()
  })

  it('strips the path of one below a path, which the form and the dialog say', async () => {
    await site.api.createDomain({ domain: 'docs.example.com' })
    const { visit, page, form } = await openForm()
    const strip = form.getByLabel('Strip Path Prefix')
    await expect(strip).toBeDisabled()
    await form.getByText('Needs a path, like /wiki.').waitFor()
    await form.getByLabel(label('Service Name')).fill('wiki')
    await form.getByLabel(label('Public Domain')).fill('docs.example.com')
    await form.getByLabel(label('Public HTTP Path')).fill('/wiki/')
    await form.getByText('The backend gets the path without /wiki.').waitFor()
    await strip.check()
    await visit.expectAccessible()
    await form.getByRole('button', { name: 'Save' }).click()
    const info = page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' })
    await info.getByText('It gets the path without /wiki.').waitFor()
    await visit.expectAccessible()
    await info.getByRole('button', { name: 'Got it!' }).click()
    const route = () => edge.state()?.sections.routes?.find(({ domain }) => domain === 'docs.example.com')
    expect(route()).toMatchObject({ path: '/wiki', stripPath: true })
    await act(page, 'wiki', 'Edit Service')
    const edited = page.getByRole('dialog', { name: 'Edit HTTP Service: wiki' })
    await expect(edited.getByLabel('Strip Path Prefix')).toBeChecked()
    await edited.getByLabel(label('Public HTTP Path')).fill('/')
    await expect(edited.getByLabel('Strip Path Prefix')).toBeDisabled()
    await edited.getByRole('button', { name: 'Save' }).click()
    await until('the whole path', () => route()?.path === '/' && !route()?.stripPath)
    visit.expectNoComplaints()
    await visit.close()
    await site.api.call('DELETE', `/api/services/${node.id}/http/${route()?.id}`)
  })

  it('says that it is live also when that happens while its first answer is on its way', async () => {
    await site.api.createDomain({ domain: 'told.example.com' })
    await edge.pause(true)
    onTestFinished(() => edge.pause(false))
    const { visit, page, form } = await openForm()
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let isHeld = false
    await page.route(/\/api\/services\/\d+\/http\/\d+$/, async (route) => {
      const answer = await route.fetch()
      if (!isHeld && route.request().method() === 'GET') {
        isHeld = true
        await released
      }
      await route.fulfill({ response: answer })
    })
    await form.getByLabel(label('Service Name')).fill('slow to tell')
    await form.getByLabel(label('Public Domain')).fill('told.example.com')
    await page.keyboard.press('Tab')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: 'Saved' }).waitFor()
    await until('the answer', () => isHeld)
    await edge.pause(false)
    // Behind the dialog, where no role is found.
    await page.locator('tr', { hasText: 'slow to tell' }).getByText('Live').waitFor()
    release()
    await page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' }).waitFor()
    visit.expectNoComplaints()
    await visit.close()
  })

  it('shows what the server refuses under the field, and keeps what was typed', async () => {
    await site.api.publish(node.id, { name: 'first', domain: 'taken.example.com' })
    const { visit, page, form } = await openForm()
    visit.forgive(/409|422|The form was not saved/)
    await form.getByLabel(label('Service Name')).fill('second')
    await form.getByLabel(label('Public Domain')).fill('taken.example.com')
    await page.keyboard.press('Tab')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText(/already belongs to/).waitFor()
    await expect(form.getByLabel(label('Service Name'))).toHaveValue('second')
    await form.getByLabel(label('Public HTTP Path')).fill('no slash')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('must start with / and contain only letters, numbers, and / . _ ~ -').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /discard/i }).waitFor()
    visit.expectNoComplaints()
    await visit.close()
  })

  it('says before saving that its own defaults need a domain or another path', async () => {
    const { visit, page, form } = await openForm()
    const path = form.getByLabel(label('Public HTTP Path'))
    const needed = '/ belongs to the console: choose another path, or a domain'
    await expect(path).toHaveAccessibleDescription(needed)
    await expect(path).not.toHaveAttribute('aria-invalid')
    await form.getByText('/…', { exact: false }).first().waitFor()
    const calls: string[] = []
    page.on('request', (request) => void (request.method() === 'POST' && calls.push(request.url())))
    await form.getByLabel(label('Service Name')).fill('by default')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect(path).toHaveAttribute('aria-invalid', 'true')
    await expect(path).toHaveAccessibleDescription(needed)
    expect(calls).toEqual([])
    await path.fill('/by-default')
    await expect(path).not.toHaveAttribute('aria-invalid')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' }).waitFor()
    visit.expectNoComplaints()
    await visit.close()
  })

  it('says what breaks beside the console, and where that is explained', async () => {
    const other = await site.api.publish(node.id, { name: 'other', domain: 'other.example.com' })
    const consoleDomain = 'gate.example.com'
    // The server's own tests hold this answer against the contract.
    const services = (await site.api.call('GET', '/api/services/http')).json as HttpService[]
    const own = services.find(({ system }) => system)
    const ownUrl = `/api/services/${own?.nodeId}/http/${own?.id}`
    await site.api.call('PATCH', ownUrl, { domain: consoleDomain, skipValidation: true })
    const { visit, page, form } = await openForm()
    const domain = form.getByLabel(label('Public Domain'))
    const warning = form.getByText(/runs in a sandbox/)
    await expect(domain).toHaveAccessibleDescription(/Without a domain the service runs in a sandbox/)
    await visit.expectAccessible()
    for (const name of ['new.example.com', 'other.example.com']) {
      await domain.fill(name)
      await warning.waitFor({ state: 'detached' })
    }
    await domain.fill(consoleDomain.toUpperCase())
    await form.getByText(/This is the domain of the console\. A service here runs/).waitFor()
    // While the list of names is open, everything else is hidden from a screen reader.
    await page.keyboard.press('Tab')
    const link = form.getByRole('link', { name: 'What breaks' })
    const [docs] = await Promise.all([visit.context.waitForEvent('page'), link.click()])
    await docs.getByRole('heading', { name: 'What breaks without a domain' }).waitFor()
    expect(new URL(docs.url()).hash).toBe('#what-breaks-without-a-domain')
    await expect(docs.locator(':target')).toHaveText('What breaks without a domain')
    await site.api.call('PATCH', ownUrl, { domain: null })
    await page.keyboard.press('Escape')
    visit.expectNoComplaints()
    await visit.close()
    // The card shows five rows a page, and later tests look for theirs on the first.
    await site.api.removeService(other)
  })

  it('shows an unknown failure of the server as a banner with the number of the request', async () => {
    const { visit, page, form } = await openForm()
    visit.forgive(/500|The form was not saved/)
    await page.route('**/api/services/*/http', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 500, json: { message: 'Internal error', requestId: 'req-77' } })
        : route.continue(),
    )
    await form.getByLabel(label('Service Name')).fill('broken')
    await form.getByLabel(label('Public HTTP Path')).fill('/broken')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByRole('alert').getByText('req-77').waitFor()
    await expect(form.getByLabel(label('Service Name'))).toHaveValue('broken')
    visit.expectNoComplaints()
    await visit.close()
  })
})

describe('a service whose node is not there', () => {
  it('says so instead of Live, in the dialog and on its row, and turns by itself', async () => {
    const attic = await site.api.createNode({ name: 'attic' })
    const visit = await site.open(`/nodes/${attic.id}`)
    const { page } = visit
    await page.getByText('Offline: never connected').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Add Service' }).first().click()
    const form = page.getByRole('dialog', { name: 'Expose HTTP Service on Node' })
    await form.getByLabel(label('Service Name')).fill('away')
    await form.getByLabel(label('Public HTTP Path')).fill('/away')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('away is saved. It goes live when attic connects.').waitFor()
    await visit.expectAccessible()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await expect(row(page, 'away').getByText('Node offline')).toHaveClass('phase warn')
    await row(page, 'away').getByText('attic has never connected').waitFor()
    edge.sendPeers([onlinePeer(attic.id)])
    await row(page, 'away').getByText('Live').waitFor()
    edge.sendPeers([{ ...onlinePeer(attic.id), reachable: false }])
    await row(page, 'away').getByText('attic does not answer through the tunnel').waitFor()
    edge.sendPeers([{ ...onlinePeer(attic.id), latestHandshake: Date.now() - 3_700_000 }])
    await row(page, 'away').getByText('attic was last seen 1 hour ago').waitFor()
    await visit.expectAccessible()
    await site.api.call('PATCH', `/api/nodes/${attic.id}/disable`)
    await expect(row(page, 'away').getByText('Node disconnected')).toHaveClass(/^phase\s*$/)
    await row(page, 'away').getByText('attic is disconnected').waitFor()
    await page.getByText('Offline: disconnected').waitFor({ state: 'attached' })
    await visit.expectAccessible()
    visit.expectNoComplaints()
    await visit.close()
  })
})

describe('the service card', () => {
  it('says Applying until the edge has it, Live then, and the reason when it failed', async () => {
    await edge.pause(true)
    const service = await site.api.publish(node.id, { name: 'slow', domain: 'slow.example.com' })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    await row(page, 'slow').getByText('Applying').waitFor()
    await edge.pause(false)
    await row(page, 'slow').getByText('Live').waitFor()
    await expect(row(page, 'slow').locator('.dot')).toHaveClass('dot enabled')
    const message = 'The name db.internal cannot be resolved'
    await edge.setProblems([{ scope: { kind: 'service', id: service.id }, message }])
    await row(page, 'slow').getByText(message).waitFor()
    await expect(row(page, 'slow').getByText('Failed')).toHaveClass('phase bad')
    await expect(row(page, 'slow').locator('.dot')).toHaveClass('dot enabled pale')
    await edge.setProblems([])
    await row(page, 'slow').getByText('Live').waitFor()
    visit.expectNoComplaints()
    await visit.close()
    await site.api.removeService(service)
  })

  it('says in its dialog what it waits for, and that it is available only once it is', async () => {
    await edge.pause(true)
    const service = await site.api.publish(node.id, { name: 'turn', domain: 'turn.example.com' })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    await act(page, 'turn', 'Info')
    const saved = (words: string) => page.getByRole('dialog', { name: 'Saved' }).getByText(words).waitFor()
    const live = () => page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' }).waitFor()
    await saved('turn is being applied.')
    await edge.pause(false)
    await live()
    edge.sendTrouble(service.id, 'unchecked')
    await saved('Checking whether turn answers.')
    edge.sendTrouble(service.id, 'refused')
    await saved("turn isn't available. The service refused the connection.")
    edge.sendTrouble(service.id, null)
    await live()
    await edge.setProblems([{ scope: { kind: 'service', id: service.id }, message: 'No such host' }])
    await saved("turn isn't available. No such host")
    await edge.setProblems([])
    await live()
    visit.expectNoComplaints()
    await visit.close()
    await site.api.removeService(service)
  })

  it('says Not answering with the reason until the backend answers again, without a reload', async () => {
    const service = await site.api.publish(node.id, { name: 'mute', domain: 'mute.example.com' })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    await row(page, 'mute').getByText('Live').waitFor()
    edge.sendTrouble(service.id, 'refused')
    await row(page, 'mute').getByText('Not answering').waitFor()
    const help = row(page, 'mute').getByRole('link', { name: 'What to do' })
    await expect(help).toHaveAttribute('href', '/docs/troubleshooting#service-unanswered')
    await row(page, 'mute').getByText('The service refused the connection.').waitFor()
    await visit.expectAccessible()
    edge.sendTrouble(service.id, 'only-tls')
    await row(page, 'mute').getByText('Choose https as its protocol').waitFor()
    edge.sendTrouble(service.id, null)
    await row(page, 'mute').getByText('Live').waitFor()
    await expect(row(page, 'mute').getByText('Not answering')).toHaveCount(0)
    visit.expectNoComplaints()
    await visit.close()
    await site.api.removeService(service)
  })

  it('disables, enables, edits and deletes', async () => {
    const service = await site.api.publish(node.id, { name: 'acted', domain: 'acted.example.com' })
    const visit = await site.open(`/nodes/${node.id}`)
    const { page } = visit
    await act(page, 'acted', 'Disable Access')
    await page.getByRole('button', { name: /^Yes/ }).click()
    await page.getByText('Service disabled from public access successfully!').waitFor()
    await row(page, 'acted').getByText('Disabled').first().waitFor({ state: 'attached' })
    expect((await site.api.getService(service)).enabled).toBe(false)
    await act(page, 'acted', 'Enable Access')
    await page.getByRole('button', { name: /^Yes/ }).click()
    await page.getByText('Service exposed successfully!').waitFor()
    await act(page, 'acted', 'Edit Service')
    const form = page.getByRole('dialog', { name: 'Edit HTTP Service: acted' })
    await form.getByLabel(label('Backend Port')).fill('9999')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await row(page, 'acted').getByText('9999').waitFor()
    await act(page, 'acted', 'Delete Service')
    await page.getByRole('button', { name: /^Yes/ }).click()
    await page.getByText('Service deleted successfully!').waitFor()
    await row(page, 'acted').waitFor({ state: 'detached' })
    visit.expectNoComplaints()
    await visit.close()
  })
})

describe('a service that an agent publishes', () => {
  it('comes and goes by itself, says where it comes from, and can only be looked at, disabled and deleted', async () => {
    const host = await site.api.createNode({
      ...{ name: 'docker host', agentMayPublish: true, agentDomains: ['c.example.com'] },
    })
    const publish = (backendPort: number) => {
      const service = { key: 'web', type: 'http', name: 'container', domain: 'c.example.com', backendPort }
      const services = backendPort === 0 ? [] : [service]
      const set = { source: 'docker', services }
      return callApi(site.paths.serverSocket, host.token, 'PUT', '/api/agent/services', set)
    }
    const visit = await site.open(`/nodes/${host.id}`)
    const { page } = visit
    await page.getByText('No HTTP services yet').waitFor()
    await expect(page.locator('dl.facts dd').last()).toHaveText('Yes')
    expect((await publish(8080)).status).toBe(200)
    await row(page, 'container').getByText('Proxy -> http://localhost:8080').waitFor()
    await row(page, 'container')
      .getByRole('button', { name: /^Docker/ })
      .hover()
    await page
      .getByText(/^Docker on docker host publishes this service\. Change it in the labels/)
      .last()
      .waitFor()
    await visit.expectAccessible()
    await act(page, 'container', 'Show Settings')
    const form = page.getByRole('dialog', { name: 'HTTP Service: container' })
    await form.getByText(/^Docker on docker host publishes this service/).waitFor()
    for (const name of ['Service Name', 'Public Domain', 'Public HTTP Path', 'Backend Port'])
      await expect(form.getByLabel(label(name)), name).toBeDisabled()
    await expect(form.getByRole('button', { name: 'Save' })).toHaveCount(0)
    await expect(form.locator('.dlg-body button:enabled')).toHaveCount(0)
    await visit.expectAccessible()
    await form.getByRole('button', { name: 'Close' }).last().click()
    await act(page, 'container', 'Disable Access')
    await page.getByRole('button', { name: /^Yes/ }).click()
    await row(page, 'container').getByText('Disabled').first().waitFor({ state: 'attached' })
    await publish(9090)
    await row(page, 'container').getByText('Proxy -> http://localhost:9090').waitFor()
    await row(page, 'container').getByText('Disabled').first().waitFor({ state: 'attached' })
    await act(page, 'container', 'Delete Service')
    await page.getByText(/comes back when Docker on docker host publishes it again/).waitFor()
    await page.keyboard.press('Escape')
    await publish(0)
    await page.getByText('No HTTP services yet').waitFor()
    visit.expectNoComplaints()
    await visit.close()
  })
})

describe('the live log of a service', () => {
  it('shows what was kept and what comes, and goes on after the server was away', async () => {
    const service = await site.api.publish(node.id, { name: 'watched', domain: 'watched.example.com' })
    const visit = await site.open(`/nodes/${node.id}/http/${service.id}/logs`)
    const { page } = visit
    visit.forgive(/ERR_|Failed to load|The stream was lost/)
    await until('the edge to be asked for lines', () => edge.watched().includes(service.id))
    edge.log(service.id, '[INFO] 2026-11-21T10:00:00.123Z 203.0.113.5 "GET /one" 200 1.2KB 14ms')
    edge.log(service.id, '[ERROR] 2026-11-21T10:00:01.123Z 203.0.113.5 "GET /two" 503 0B 3ms')
    await page.getByText('"GET /one" 200').waitFor()
    await page.getByText('"GET /two" 503').waitFor()
    await visit.expectAccessible()
    edge.close()
    await site.stopServer()
    await page
      .getByText(/reconnecting/i)
      .first()
      .waitFor()
    await site.startServer()
    edge = await connectFakeEdge(site.paths)
    await until('the edge to be asked again', () => edge.watched().includes(service.id))
    edge.log(service.id, '[INFO] 2026-11-21T10:00:09.123Z 203.0.113.5 "GET /three" 200 1.2KB 14ms')
    await page.getByText('"GET /three" 200').waitFor()
    await expect(page.getByText('"GET /one" 200')).toHaveCount(1)
    visit.expectNoComplaints()
    await visit.close()
  })
})

async function openForm() {
  const visit: Visit = await site.open(`/nodes/${node.id}`)
  const { page } = visit
  await page.getByRole('button', { name: 'Add Service' }).first().click()
  const form = page.getByRole('dialog', { name: 'Expose HTTP Service on Node' })
  await form.waitFor()
  return { visit, page, form }
}

function row(page: Page, name: string) {
  return page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
}

async function act(page: Page, name: string, item: string): Promise<void> {
  await row(page, name)
    .getByRole('button', { name: /Actions/ })
    .click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}
