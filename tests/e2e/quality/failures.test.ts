import type { Edge } from '@postern/contract/edge/edge'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import type { Locator, Page } from 'playwright'
import { describe, it } from 'vitest'
import { EDGE_ABSENCE_SHOWN } from '../../../apps/console/src/util/constants.ts'
import { expect } from '../expect.ts'
import { label, startSite, type Visit } from '../harness.ts'
import { choose, expectClipboard, passTimeUntil, rowOf, stopClock } from '../steps.ts'

/** What a person sees when something does not work: the reason, a way on, and never an empty list. */
const site = shared(() => startSite())

describe('the server', () => {
  it('that is gone leaves panels with Retry, and the lists come back with it', async () => {
    const node = await site.api.createNode({ name: 'office' })
    const visit = await site.open('/domains')
    const { page } = visit
    visit.forgive(/ERR_|Failed to load|The stream was lost|The form was not saved/)
    await page.getByText('No domains yet').waitFor()
    const go = (name: string) => page.getByRole('link', { name, exact: true }).click()
    await go('Client / Nodes')
    await page.getByRole('link', { name: 'office' }).click()
    await page.getByText('No HTTP services yet').waitFor()
    await go('Domain Names')
    await page.getByText('No domains yet').waitFor()
    // Pages likely to be opened next are loaded when the page is idle.
    await page.waitForFunction(() => {
      const loaded = performance.getEntriesByType('resource').map(({ name }) => name)
      const dialogs = ['NodeDialog', 'ServiceDialog', 'DomainDialog']
      return dialogs.every((dialog) => loaded.some((name) => name.includes(dialog)))
    })
    await site.stopServer()
    await page.getByRole('searchbox').fill('office')
    await page.getByText('The domains could not be loaded').waitFor()
    await expect(page.getByText(/No domains yet|Nothing matches/)).toHaveCount(0)
    await go('Client / Nodes')
    await page.getByRole('searchbox').fill('office')
    await page.getByText('The nodes could not be loaded').waitFor()
    for (const list of ['domains', 'nodes'])
      expect(visit.complaints.join()).toContain(
        `Failed to load /api/${list}: The server could not be reached`,
      )
    await page.getByText('Reconnecting').waitFor()
    await page.getByRole('button', { name: 'Add Client' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel(label('Name')).fill('kept')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByRole('alert').getByText('The server could not be reached.').waitFor()
    await expect(form.getByLabel(label('Name'))).toHaveValue('kept')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard' }).click()
    await site.startServer()
    const retry = page.getByRole('button', { name: 'Retry' })
    const office = page.getByRole('link', { name: 'office' })
    // The list may be back before anybody asks for it.
    await expect(async () => {
      if (!(await office.isVisible())) await retry.click({ timeout: 5000 })
      await expect(office).toBeVisible({ timeout: 5000 })
    }).toPass({ timeout: 60_000 })
    await office.click()
    await page.waitForURL(`**/nodes/${node.id}`)
    await page.getByText('No HTTP services yet').waitFor()
  })

  it('that is gone before a page was ever opened: the page says so, beside the rest, and comes back', async () => {
    const { page, forgive } = await site.open('/nodes')
    forgive(/ERR_|Failed to|The stream was lost|The page could not be loaded/)
    await page.getByRole('link', { name: 'Local' }).waitFor()
    await site.stopServer()
    await page.getByRole('link', { name: 'Domain Names' }).click()
    await page.getByText('This page could not be shown').waitFor()
    await page.getByRole('link', { name: 'Client / Nodes' }).waitFor()
    await site.startServer()
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('No domains yet').waitFor()
  })

  it('that does not send a part of each row leaves the rest of it', async () => {
    const { page, forgive } = await site.open('/no/such/page')
    forgive(/ERR_/)
    await page.route(/CarriedCell/, (route) => route.abort())
    const failure = page.waitForEvent('console', (message) =>
      message.text().startsWith('The traffic of rows could not be loaded'),
    )
    await page.goto(`${site.origin}/nodes`)
    await failure
    await page.getByRole('link', { name: 'Local' }).waitFor()
    await expect(page.getByText('This page could not be shown')).toHaveCount(0)
  })

  it('that is gone is reported above a page that keeps showing the last state', async () => {
    const edge = await connectFakeEdge(site.paths)
    const { id } = await site.api.createNode({ name: 'shown' })
    edge.sendPeers([onlinePeer(id)])
    const visit = await site.open(`/nodes/${id}`)
    const { page } = visit
    visit.forgive(/ERR_|Failed to|The stream was lost/)
    const dot = page.locator('main .dot.online').first()
    await dot.waitFor()
    const filter = () => dot.evaluate((element) => getComputedStyle(element).filter)
    expect(await filter()).toBe('none')
    edge.close()
    await site.stopServer()
    const banner = page.locator('.banners').getByText("The server can't be reached.")
    await expect(banner).toContainText(/What this page shows is from \d\d\/\d\d\/\d{4}, \d\d:\d\d:\d\d /)
    expect(await filter()).toBe('grayscale(1)')
    await visit.expectAccessible()
    await site.startServer()
    await expect(banner).toHaveCount(0)
  })

  it.each([
    [{ message: 'The body is not JSON' }, 'The body is not JSON'],
    [{}, 'Unknown Error'],
  ])('that cannot read a request is quoted in a toast: %o', async (json, words) => {
    const { page, forgive } = await site.open('/nodes')
    forgive(/400|The form was not saved/)
    await page.route('**/api/nodes', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 400, json }) : route.continue(),
    )
    await page.getByRole('button', { name: 'Add Client' }).click()
    await page.getByLabel(label('Name')).fill('refused')
    await page.keyboard.press('Enter')
    await page.locator('.toast').getByText(words).waitFor()
    await expect(page.getByText(words)).toHaveCount(1)
    await expect(page.getByText('Not saved.')).toHaveCount(0)
  })

  it('that keeps its field errors one level deeper is understood', async () => {
    const { page, forgive } = await site.open('/nodes')
    forgive(/422|The form was not saved/)
    const errors = { body: [{ field: 'name', message: 'is already somebody else' }] }
    await page.route('**/api/nodes', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 422, json: { errors } })
        : route.continue(),
    )
    await page.getByRole('button', { name: 'Add Client' }).click()
    await page.getByLabel(label('Name')).fill('refused')
    await page.keyboard.press('Enter')
    await page.getByText('is already somebody else').waitFor()
    await expect(page.getByLabel(label('Name'))).toHaveAttribute('aria-invalid', 'true')
  })

  it.each([401, 403, 429])('that answers %i ends the session, and the page is remembered', async (status) => {
    const visit = await site.open('/domains')
    const { page } = visit
    visit.forgive(/40[13]|429|Failed to load|The stream was lost/)
    await page.getByText('No domains yet').waitFor()
    await page.getByRole('searchbox').focus()
    await page.route('**/api/domains?*', (route) => route.fulfill({ status, json: { message: 'no' } }))
    // Another load of the list may have been refused before.
    await page.keyboard.type('x')
    await page.waitForURL('**/login')
    await expect.poll(() => visit.context.cookies()).toEqual([])
    await expect.poll(() => page.evaluate(() => localStorage.getItem('redirect'))).toMatch(/^\/domains/)
  })
})

describe('a record that cannot be loaded', () => {
  it.each([
    ['/nodes/999999/http/1/logs', 'This service does not exist', 'Go to node'],
    ['/domains/absent.example.com/logs', 'This domain does not exist', 'Domains'],
    ['/nodes/abc', 'This node does not exist', 'Client / Nodes'],
  ])('%s says so and leads back', async (path, words, back) => {
    const visit = await site.open(path)
    visit.forgive(/404|422|The stream was lost|Failed to load/)
    await visit.page.getByText(words).waitFor()
    await visit.page.getByRole('main').getByRole('link', { name: back }).waitFor()
    await visit.expectAccessible()
  })
})

describe('the data plane', () => {
  it("that lacks a part or fails in one is reported on every page, in the part's words", async () => {
    const edge = await connectFakeEdge(site.paths)
    const wireguard = { state: 'missing', detail: 'Neither the kernel nor wireguard-go is there' } as const
    const haproxy = { state: 'failed', detail: 'Port 443 is taken by nginx' } as const
    await edge.setDataPlane({ wireguard, haproxy })
    const visit = await site.open('/')
    const { page } = visit
    await page
      .getByText('WireGuard is missing: Neither the kernel nor wireguard-go is there. No node can connect.')
      .first()
      .waitFor()
    await page
      .getByText(/HAProxy isn't working: Port 443 is taken by nginx\./)
      .first()
      .waitFor()
    await syncMark(page, 'Data plane down').waitFor()
    await visit.expectAccessible()
    await stopClock(page)
    await page.reload()
    await passTimeUntil(syncMark(page, 'Data plane down'))
    await edge.setDataPlane({})
    await untilEdge((known) => known.dataPlane?.haproxy.state === 'ok')
    await passTimeUntil(syncMark(page, 'In sync'))
    await expect(page.locator('.banners')).toHaveCount(0)
    edge.close()
    await untilEdge((known) => !known.connected)
    await passTimeUntil(syncMark(page, 'Edge not connected'))
    await expect(page.locator('.banners')).toHaveCount(0)
    await page.clock.runFor(EDGE_ABSENCE_SHOWN)
    await page
      .locator('.banners')
      .getByText(/is not connected\. Published services usually keep running/)
      .waitFor()
  })
})

describe('the clipboard', () => {
  it('that refuses is reported in a toast', async () => {
    const visit = await site.open('/')
    const { page } = visit
    visit.forgive(/Copying failed/)
    await makeNode(visit, 'copied')
    await page.evaluate(() =>
      Object.defineProperty(navigator.clipboard, 'writeText', {
        value: () => Promise.reject(new Error('no')),
      }),
    )
    await page.getByRole('button', { name: 'Copy node token' }).click()
    await page.getByText('Could not copy to the clipboard.').waitFor()
  })

  it('gets the token, and the icon is a tick for two seconds', async () => {
    const visit = await site.open('/')
    const { page } = visit
    await makeNode(visit, 'ticked')
    await stopClock(page)
    const copy = page.getByRole('button', { name: 'Copy node token' })
    await copy.click()
    await copy.locator('.lucide-check').waitFor()
    await expectClipboard(page, /^ptn_/)
    await page.clock.runFor(1900)
    await expect(copy.locator('.lucide-check')).toHaveCount(1)
    await page.clock.runFor(200)
    await copy.locator('.lucide-copy').waitFor()
  })
})

it('a deletion that the server refuses says why and changes nothing', async () => {
  const node = await site.api.createNode({ name: 'host' })
  await site.api.publish(node.id, { name: 'kept', domain: 'kept.example.com' })
  const { page, forgive } = await site.open('/domains')
  forgive(/409/)
  await choose(page, 'Actions for kept.example.com', 'Delete Domain')
  await page.getByRole('button', { name: 'Yes, delete it!' }).click()
  await page.locator('.toast.bad').getByText(/kept/).waitFor()
  await rowOf(page, 'kept.example.com').waitFor()
})

/** Waits until the server has it from its edge: a page with a stopped clock asks only once. */
async function untilEdge(isSo: (edge: Edge) => boolean): Promise<void> {
  await until('the server to know it of the edge', async () => (await site.api.listEdges()).every(isSo))
}

function syncMark(page: Page, text: string): Locator {
  return page.locator('.sync').getByText(text).first()
}

async function makeNode({ page }: Visit, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Create Node' }).click()
  await page.getByLabel(label('Name')).fill(name)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Your Node is Ready' }).waitFor()
}
