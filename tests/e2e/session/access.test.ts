import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, rowOf } from '../steps.ts'

let nodeId: number
let serviceId: number

/** For people who see a page enlarged, in few colours, or hear it. */
const site = shared(() => startSite({ POSTERN_PUBLIC_HOST: '192.168.1.5' }))
const edge = shared(() => connectFakeEdge(site.paths))
beforeAll(async () => {
  const networks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  nodeId = (await site.api.createNode({ name: 'office', isGateway: true, gatewayNetworks: networks })).id
  serviceId = (
    await site.api.publish(nodeId, { name: 'wiki', domain: 'wiki.example.com', backendHost: '192.168.7.3' })
  ).id
  edge.sendPeers([onlinePeer(nodeId)])
})

const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth)

it('at 400% no page is wider than the screen, and a form has room', async () => {
  const { page } = await site.open(`/nodes/${nodeId}`, { width: 320, height: 256 })
  await page.getByRole('button', { name: 'Actions for wiki' }).waitFor()
  await expect.poll(() => widthOf(page)).toBeLessThanOrEqual(320)
  await page.getByRole('button', { name: 'Add Service' }).first().click()
  await page.getByLabel(label('Service Name')).waitFor()
  // Header and footer scroll with the form.
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
})

it('in few colours dots, pressed buttons and live marks are visible', async () => {
  const { page } = await site.open('/nodes')
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
})

it('a log is silent until a person wants to hear it, and its footer stays in the window below a banner', async () => {
  const { page } = await site.open(`/nodes/${nodeId}/http/${serviceId}/logs`, { width: 1024, height: 720 })
  edge.log(serviceId, 'said [INFO] in the middle')
  const log = page.getByRole('log')
  await expect(log).toHaveAttribute('aria-live', 'off')
  await page.getByRole('button', { name: 'Read new lines aloud' }).click()
  await expect(log).toHaveAttribute('aria-live', 'polite')
  // Its marker keeps its colour everywhere.
  await expect(log.locator('.lv-in')).toHaveText('[INFO]')
  await page.getByText('is private: visitors').waitFor()
  await expect(page.getByText('lines kept')).toBeInViewport()
  expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight)).toBe(0)
})

it('on a phone the links of a row and of a banner have room for a finger', async () => {
  const { page } = await site.open(`/nodes/${nodeId}`, { width: 390, height: 844 })
  const row = rowOf(page, 'wiki')
  const links = [page.locator('.banners').getByRole('link', { name: 'Settings' }), row.getByRole('link')]
  for (const link of links) {
    await link.first().waitFor()
    for (const each of await link.all())
      expect((await each.boundingBox())?.height, await each.innerText()).toBeGreaterThanOrEqual(24)
  }
})

it('what a person already knows about the public host is not repeated', async () => {
  const { page } = await site.open('/nodes')
  const banner = page.getByText('is private: visitors')
  await page.locator('.banners').getByRole('button', { name: 'Close' }).click()
  await expect(banner).toHaveCount(0)
  await page.reload()
  await page.getByRole('link', { name: 'office' }).waitFor()
  await expect(page.getByRole('status').filter({ hasText: 'Updates live' })).toHaveCount(1)
  await expect(banner).toHaveCount(0)
})

it('a service of a server with a private address is not called public', async () => {
  const { page } = await site.open(`/nodes/${nodeId}`)
  await choose(page, 'Actions for wiki', 'Info')
  await page.getByRole('dialog').getByText('Only this network reaches it').waitFor()
})

it('a message says which service it is about', async () => {
  const { page } = await site.open(`/nodes/${nodeId}`)
  await choose(page, 'Actions for wiki', 'Disable Access')
  await page.getByRole('button', { name: /^Yes/ }).click()
  const message = page
    .getByRole('status')
    .filter({ hasText: 'Service disabled from public access successfully!' })
  await expect(message.getByText('wiki', { exact: true })).toBeVisible()
  // It appears below the bar, whose buttons stay clear.
  const [bar, box] = await Promise.all([page.locator('.bar').boundingBox(), message.boundingBox()])
  expect(box?.y).toBeGreaterThan(bar?.height ?? Number.NaN)
  await rowOf(page, 'wiki').getByText('Disabled', { exact: true }).first().waitFor()
})
