import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import type { Page } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, type Site, startSite } from '../harness.ts'
import { choose, rowOf } from '../steps.ts'

/** What people need who see a page enlarged, in few colours, or hear it. */
let site: Site
let edge: FakeEdge
let nodeId: number
let serviceId: number

beforeAll(async () => {
  site = await startSite({ POSTERN_PUBLIC_HOST: '192.168.1.5' })
  edge = await connectFakeEdge(site.paths)
  const networks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  nodeId = (await site.api.createNode({ name: 'office', isGateway: true, gatewayNetworks: networks })).id
  serviceId = (
    await site.api.publish(nodeId, { name: 'wiki', domain: 'wiki.example.com', backendHost: '192.168.7.3' })
  ).id
  edge.sendPeers([onlinePeer(nodeId)])
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth)

it('at 400 % no page is wider than the screen, and a form has room', async () => {
  const visit = await site.open(`/nodes/${nodeId}`, { width: 320, height: 256 })
  const { page } = visit
  await page.getByRole('button', { name: 'Actions for wiki' }).waitFor()
  await expect.poll(() => widthOf(page)).toBeLessThanOrEqual(320)
  await page.getByRole('button', { name: 'Add Service' }).first().click()
  await page.getByLabel(label('Service Name')).waitFor()
  // Head and foot go with the form.
  const scrolls = await page.evaluate(() => {
    const dialog = document.querySelector('.dialog')
    const body = document.querySelector('.dlg-body')
    return (
      dialog && body && [dialog.scrollHeight > dialog.clientHeight, body.scrollHeight === body.clientHeight]
    )
  })
  expect(scrolls).toEqual([true, true])
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByLabel(label('Service Name'))).toBeInViewport()
  visit.expectNoComplaints()
  await visit.close()
})

it('in few colours dots, pressed buttons and live marks are there', async () => {
  const visit = await site.open('/nodes')
  const { page } = visit
  await page.emulateMedia({ forcedColors: 'active' })
  await page.getByText('Updates live').waitFor()
  const coloursOf = (selector: string, property: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property)
  const canvas = await coloursOf('body', 'background-color')
  expect(await coloursOf('.dot.online', 'background-color')).not.toBe(canvas)
  expect(await coloursOf('.beat', 'background-image')).toContain('gradient')
  const pill = (pressed: boolean) => coloursOf(`.pills [aria-pressed="${pressed}"]`, 'background-color')
  expect(await pill(true)).not.toBe(await pill(false))
  visit.expectNoComplaints()
  await visit.close()
})

it('a log is silent until a person wants to hear it, and its foot stays in the window below a banner', async () => {
  const visit = await site.open(`/nodes/${nodeId}/http/${serviceId}/logs`, { width: 1024, height: 720 })
  const { page } = visit
  edge.log(serviceId, 'said [INFO] in the middle')
  const log = page.getByRole('log')
  await expect(log).toHaveAttribute('aria-live', 'off')
  await page.getByRole('button', { name: 'Read new lines aloud' }).click()
  await expect(log).toHaveAttribute('aria-live', 'polite')
  // Its marker has its colour wherever it stands.
  await expect(log.locator('.lv-in')).toHaveText('[INFO]')
  await page.getByText('is private: visitors').waitFor()
  await expect(page.getByText('lines kept')).toBeInViewport()
  expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0)
  visit.expectNoComplaints()
  await visit.close()
})

it('on a phone the links of a row and of a banner have room for a finger', async () => {
  const visit = await site.open(`/nodes/${nodeId}`, { width: 390, height: 844 })
  const { page } = visit
  const row = rowOf(page, 'wiki')
  const links = [page.locator('.banners').getByRole('link', { name: 'Documentation' }), row.getByRole('link')]
  for (const link of links) {
    await link.first().waitFor()
    for (const each of await link.all())
      expect((await each.boundingBox())?.height, await each.innerText()).toBeGreaterThanOrEqual(24)
  }
  visit.expectNoComplaints()
  await visit.close()
})

it('what a person knows of the public host is not said again', async () => {
  const visit = await site.open('/nodes')
  const { page } = visit
  const banner = page.getByText('is private: visitors')
  await page.locator('.banners').getByRole('button', { name: 'Close' }).click()
  await expect(banner).toHaveCount(0)
  await page.reload()
  await page.getByRole('link', { name: 'office' }).waitFor()
  await expect(page.getByRole('status').filter({ hasText: 'Updates live' })).toHaveCount(1)
  await expect(banner).toHaveCount(0)
  visit.expectNoComplaints()
  await visit.close()
})

it('a service of a server with a private address is not said to be public', async () => {
  const visit = await site.open(`/nodes/${nodeId}`)
  const { page } = visit
  await choose(page, 'Actions for wiki', 'Info')
  await page.getByRole('dialog').getByText('Only this network reaches it').waitFor()
  visit.expectNoComplaints()
  await visit.close()
})

it('a message says which service it is about', async () => {
  const visit = await site.open(`/nodes/${nodeId}`)
  const { page } = visit
  await choose(page, 'Actions for wiki', 'Disable Access')
  await page.getByRole('button', { name: /^Yes/ }).click()
  const message = page
    .getByRole('status')
    .filter({ hasText: 'Service disabled from public access successfully!' })
  await expect(message.getByText('wiki', { exact: true })).toBeVisible()
  // It stands below the bar, whose buttons stay free.
  const [bar, box] = await Promise.all([page.locator('.bar').boundingBox(), message.boundingBox()])
  expect(box?.y).toBeGreaterThan(bar?.height ?? Number.NaN)
  await rowOf(page, 'wiki').getByText('Disabled', { exact: true }).first().waitFor()
  visit.expectNoComplaints()
  await visit.close()
})
