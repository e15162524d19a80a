import type { HttpService } from '@postern/contract/services/services'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { beforeAll, describe, it, onTestFinished } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite, type Visit } from '../harness.ts'
import { choose, rowOf } from '../steps.ts'

const site = shared(() => startSite())
const edge = shared(() => connectFakeEdge(site.paths))
const node = shared(() => site.api.createNode({ name: 'office' }))
beforeAll(async () => {
  edge.sendPeers([onlinePeer(node.id)])
  await until('the node to be online', async () => (await site.api.getNode(node.id)).status === 'online')
})

describe('publishing an HTTP service', () => {
  it('goes from the form to the info dialog to a live row, and the edge gets the route', async () => {
    const { visit, page, form } = await openForm()
    await expect(form.getByLabel(label('Public HTTP Path'))).toHaveAttribute('placeholder', '/')
    await expect(form.getByLabel(label('Backend Port'))).toHaveValue('80')
    await expect(form.getByLabel(label('Hostname/IP'))).toBeDisabled()
    await form.getByLabel(label('Service Name')).fill('web')
    // Pasted from a browser's address bar.
    await form.getByLabel(label('Public Domain')).fill('https://web.example.com/')
    await expect(form.getByLabel(label('Public Domain'))).toHaveValue('web.example.com')
    await form.getByLabel(label('Backend Port')).fill('8080')
    await visit.expectAccessible()
    await form.getByRole('button', { name: 'Save' }).click()
    // The name does not resolve on this machine: the form offers to continue without the check.
    visit.forgive(/422|The form was not saved/)
    await form.getByLabel('Skip Domain Validation').check()
    await form.getByRole('button', { name: 'Save' }).click()
    const info = page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' })
    await info.getByText('https://web.example.com/').first().waitFor()
    await info.getByText('http://localhost:8080').waitFor()
    // What the edge cannot check.
    await info.getByText('DNS was not checked: visitors reach it once web.example.com points').waitFor()
    await info.getByText('Self-signed: browsers warn until they').waitFor()
    await info.getByText('No restrictions').waitFor()
    await visit.expectAccessible()
    await info.getByRole('button', { name: 'Got it!' }).click()
    await rowOf(page, 'web').getByText('Live').waitFor()
    const route = edge.state()?.sections.routes?.find(({ domain }) => domain === 'web.example.com')
    expect(route).toMatchObject({
      path: '/',
      backend: { proto: 'http', host: null, port: 8080 },
      enabled: true,
    })
  })

  it('strips the path of a service below a path, as the form and the dialog say', async () => {
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
    await choose(page, 'Actions for wiki', 'Edit Service')
    const edited = page.getByRole('dialog', { name: 'Edit HTTP Service: wiki' })
    await expect(edited.getByLabel('Strip Path Prefix')).toBeChecked()
    await edited.getByLabel(label('Public HTTP Path')).fill('/')
    await expect(edited.getByLabel('Strip Path Prefix')).toBeDisabled()
    await edited.getByRole('button', { name: 'Save' }).click()
    await until('the whole path', () => route()?.path === '/' && !route()?.stripPath)
    await site.api.call('DELETE', `/api/services/${node.id}/http/${route()?.id}`)
  })

  it('says that it is live even when that happens while its first answer is on its way', async () => {
    await site.api.createDomain({ domain: 'told.example.com' })
    await edge.pause(true)
    onTestFinished(() => edge.pause(false))
    const { page, form } = await openForm()
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
    // Behind the dialog, where roles are hidden.
    await page.locator('tr', { hasText: 'slow to tell' }).getByText('Live').waitFor()
    release()
    await page.getByRole('dialog', { name: 'Your Service is Now Publicly Available' }).waitFor()
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
  })

  it('says before saving that the defaults need a domain or another path', async () => {
    const { page, form } = await openForm()
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
  })

  it('says what breaks beside the console, and where that is explained', async () => {
    const other = await site.api.publish(node.id, { name: 'other', domain: 'other.example.com' })
    const consoleDomain = 'gate.example.com'
    // The server's own tests check this answer against the contract.
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
    // The card shows five rows a page, and later tests look for theirs on the first.
    await site.api.removeService(other)
  })

  it("shows an unknown server failure as a banner with the request's number", async () => {
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
