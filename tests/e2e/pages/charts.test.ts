import type { Service } from '@postern/contract/services/services'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import type { Page } from 'playwright'
import { beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { choose } from '../steps.ts'

const MINUTE = 60_000

let shop: Service
let quiet: Service
let node: number
/** Two moments with traffic. */
const [RECENT, EARLIER] = [Date.now() - 5 * MINUTE, Date.now() - 40 * MINUTE]

const site = shared(() => startSite())
const edge = shared(() => connectFakeEdge(site.paths))
beforeAll(async () => {
  node = (await site.api.createNode({ name: 'office' })).id
  shop = await site.api.publish(node, { name: 'shop', domain: 'shop.example.com' })
  quiet = await site.api.publishPort(node, { name: 'quiet', backendPort: 1883 })
  edge.sendCounts([[shop.id, 40, 2048, 2 * 1024 ** 2]], [[shop.id, 3, [0, 0, 0, 36, 0, 0, 0, 4]]], RECENT)
  edge.sendCounts([[shop.id, 1200, 0, 1024]], [], EARLIER)
  edge.keep([{ service: shop.id, path: '/slow', at: RECENT }])
  await until('the figures to be stored', async () => {
    const { json } = await site.api.call('GET', '/api/figures?span=hour')
    return (json as { whole: { connections: number } }).whole.connections === 1240
  })
})

const ofShop = () => `/nodes/${node}/http/${shop.id}/traffic`
const plot = (page: Page) => page.getByRole('slider')
const said = (page: Page) => plot(page).getAttribute('aria-valuetext')
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** What the keyboard reads of all points, the newest first. */
async function readPoints(page: Page): Promise<string[]> {
  await plot(page).press('End')
  const points = [(await said(page)) ?? '']
  for (let point = 1; point < 60; point++) {
    await plot(page).press('ArrowLeft')
    points.push((await said(page)) ?? '')
  }
  return points
}

it('shows a service by pointer and by keys, and the table has the same numbers', async () => {
  const visit = await site.open('/services')
  const { page } = visit
  await choose(page, 'Actions for shop', 'Traffic')
  await press(page, 'Hour')
  await expect(plot(page)).toHaveAccessibleName('Requests of shop, the last hour')
  await expect(page.locator('.readout')).toHaveText('The last hour Requests 1,240')
  await plot(page).focus()
  const points = await readPoints(page)
  expect(new Set(points).size).toBe(60)
  await visit.expectAccessible()
  await press(page, 'Table')
  const rows = page.locator('.points tbody tr')
  const read = (await rows.allInnerTexts()).map((text) => text.replace(/\s*\t\s*/, ': Requests '))
  // A minute may have begun meanwhile.
  expect(read.filter((row) => points.includes(row)).length).toBeGreaterThanOrEqual(58)
  expect(read.filter((row) => /Requests (40|1,200)$/.test(row))).toHaveLength(2)
  await visit.expectAccessible()
  await press(page, 'Response Time')
  await expect(rows.filter({ hasText: 'ms' })).toContainText(['18 ms4.1 ms'])
  await press(page, 'Table')
  await plot(page).hover({ position: { x: 300, y: 60 } })
  await expect(page.getByRole('link', { name: 'Show Requests' })).toBeVisible()
})

it('leads from a point to its requests, and from a request to its point', async () => {
  const { page } = await site.open(ofShop())
  await press(page, 'Hour')
  await plot(page).focus()
  await plot(page).press('End')
  for (let tries = 0; tries < 60 && !(await said(page))?.endsWith('Requests 40'); tries++)
    await plot(page).press('ArrowLeft')
  const when = (await said(page)) ?? ''
  expect(when).toMatch(/Requests 40$/)
  await plot(page).press('Enter')
  await page.getByText('GET /slow').click()
  expect(page.url()).toContain(`service=${shop.id}`)
  await page.getByRole('link', { name: 'Traffic at this moment' }).click()
  await expect(plot(page)).toHaveAttribute('aria-valuetext', when)
  await plot(page).press('Escape')
  await expect(page.locator('.readout')).toHaveText('The last hour Requests 1,240')
})

it('shows nodes, domains, edges and all of them, and small lines in their rows', async () => {
  const { page } = await site.open(`/nodes/${node}`)
  const readout = page.locator('.readout')
  await page.getByRole('heading', { name: 'Traffic' }).scrollIntoViewIfNeeded()
  await press(page, 'Hour')
  await expect(readout).toHaveText('The last hour Requests and connections 1,240')
  await page.goto(`${site.origin}/domains`)
  await expect(page.locator('.domains .carried')).toHaveText('2.00 MB')
  await page.getByRole('button', { name: 'Services of shop.example.com' }).click()
  await page.getByRole('region', { name: 'Traffic of shop.example.com' }).scrollIntoViewIfNeeded()
  await expect(readout).toHaveText('The last hour Requests and connections 1,240')
  await page.goto(`${site.origin}/nodes`)
  await expect(page.locator('.nodes .carried')).toHaveText('2.00 MB')
  await page.goto(site.origin)
  await page.getByRole('heading', { name: 'Traffic' }).scrollIntoViewIfNeeded()
  await expect(readout).toHaveText('The last hour Requests and connections 1,240')
  await page.getByLabel('Edge').selectOption({ index: 1 })
  await press(page, 'Errors')
  await expect(readout).toHaveText('The last hour Errors (5xx) 3')
})

it('says when there is nothing, and when the figures cannot be loaded', async () => {
  const visit = await site.open(`/nodes/${node}/tcp/${quiet.id}/traffic`)
  const { page } = visit
  await page.getByText('No connections in the last 24 hours.').waitFor()
  await expect(page.getByRole('button', { name: 'Response Time' })).toHaveCount(0)
  visit.forgive(/503|figures/)
  await page.route('**/figures?*', (route) => route.fulfill({ status: 503, body: '{"message":"Later"}' }))
  await press(page, 'Week')
  await page.getByText("Couldn't load the figures.").waitFor({ timeout: 30_000 })
  await page.unroute('**/figures?*')
  await press(page, 'Retry')
  await page.getByText('No connections in the last 7 days.').waitFor()
})

it("has its times in the browser's zone, and works on a phone with a finger", async () => {
  const zone = 'Asia/Kolkata'
  const visit = await site.open(ofShop(), { timezoneId: zone, width: 390, height: 844, scheme: 'dark' })
  const { page } = visit
  await press(page, 'Hour')
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeStyle: 'short', hourCycle: 'h23' })
  await plot(page).focus()
  const points = await readPoints(page)
  expect(points.find((text) => text.endsWith('Requests 40'))).toContain(`, ${clock.format(RECENT)} to `)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await visit.expectAccessible()
})

it('remembers what a person looks at, at every chart', async () => {
  const { page } = await site.open(ofShop())
  await press(page, 'Bytes')
  await press(page, 'Week')
  await page.reload()
  await expect(page.locator('.readout')).toHaveText('The last 7 days Sent 2.00 MB Received 2.00 KB')
})
