import { readFileSync } from 'node:fs'
import type { CreatedNode } from '@postern/contract/nodes'
import type { HttpService } from '@postern/contract/services'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import { until } from '@postern/testkit/until'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from './expect.ts'
import { type Site, startSite } from './harness.ts'
import { expectClipboard } from './steps.ts'

let site: Site
let edge: FakeEdge
let node: CreatedNode

beforeAll(async () => {
  site = await startSite()
  edge = await connectFakeEdge(site.paths)
  node = await site.api.createNode({ name: 'office' })
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

it('colours lines by their marker, filters by level and text, copies, saves and clears', async () => {
  const { visit, page, service } = await openLog('coloured')
  const lines = [
    '[ERROR] one "GET /a" 503',
    '[WARN] two "GET /b" 404',
    '[WARNING] three "GET /c" 404',
    '[INFO] four "GET /[ERROR]" 200',
    '[DEBUG] five',
    'six without a marker',
  ]
  for (const line of lines) edge.log(service.id, line)
  await page.getByText('six without a marker').waitFor()
  await visit.expectAccessible()
  const looks = await page
    .locator('.log > div')
    .evaluateAll((all) => all.map((line) => [line.getAttribute('data-level'), hueOf(line)] as const))
  expect(looks.map(([level]) => level)).toEqual(['error', 'warn', 'warn', 'info', 'debug', 'other'])
  const [error, warn, , info, debug, other] = looks.map(([, hue]) => hue)
  expect([error, warn, info, debug, other]).toEqual(['red', 'yellow', 'blue', 'green', 'grey'])
  await page.getByRole('button', { name: 'Copy lines' }).click()
  await expectClipboard(page, lines.join('\n'))
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download lines' }).click()
  expect(readFileSync(await (await saving).path(), 'utf8')).toBe(`${lines.join('\n')}\n`)
  await page.getByRole('button', { name: /^Warn/ }).click()
  await expect(shown(page)).toHaveCount(4)
  await page.getByRole('searchbox').fill('get /')
  await expect(shown(page)).toHaveCount(2)
  await expect(page.locator('mark').first()).toHaveText('GET /')
  await page.getByRole('searchbox').fill('nothing like it')
  await page.getByRole('button', { name: 'Show all lines' }).click()
  await expect(shown(page)).toHaveCount(6)
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByText('Waiting for requests').waitFor()
  visit.expectNoComplaints()
  await visit.close()
})

it('keeps the newest thousand lines and follows them until one scrolls up', async () => {
  const { visit, page, service } = await openLog('busy')
  for (let line = 1; line <= 1200; line++) edge.log(service.id, `[INFO] line ${line}.`)
  await page.getByText('line 1200.').waitFor()
  await expect(shown(page)).toHaveCount(1000)
  await expect(page.getByText('line 200.', { exact: true })).toHaveCount(0)
  await page.getByText('1000 of 1000 lines kept').waitFor()
  await expect.poll(() => isInView(page, 'line 1200.')).toBe(true)
  await page.getByRole('log').focus()
  await page.keyboard.press('Home')
  const jump = page.getByRole('button', { name: 'Jump to the newest line' })
  await jump.waitFor()
  const top = await page.getByRole('log').evaluate((pane) => pane.scrollTop)
  edge.log(service.id, '[INFO] one more.')
  await page.getByText('one more.').waitFor({ state: 'attached' })
  expect(await page.getByRole('log').evaluate((pane) => pane.scrollTop)).toBeLessThanOrEqual(top)
  await jump.click()
  await expect.poll(() => isInView(page, 'one more.')).toBe(true)
  visit.expectNoComplaints()
  await visit.close()
})

it('holds still while paused and goes on with what came', async () => {
  const { visit, page, service } = await openLog('paused')
  edge.log(service.id, '[INFO] before.')
  await page.getByText('before.').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  edge.log(service.id, '[INFO] meanwhile.')
  await page.getByText('Paused. 1 new line.').waitFor()
  await expect(shown(page)).toHaveCount(1)
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('meanwhile.').waitFor()
  visit.expectNoComplaints()
  await visit.close()
})

it('of a domain shows the lines of all its services, and its way back', async () => {
  const one = await site.api.publish(node.id, { name: 'one', domain: 'two-in.example.com' })
  const two = await site.api.publish(node.id, {
    name: 'two',
    domain: 'two-in.example.com',
    pathLocation: '/two',
  })
  const visit = await site.open('/domains/two-in.example.com/logs')
  const { page } = visit
  await until('both to be watched', () => [one, two].every(({ id }) => edge.watched().includes(id)))
  edge.log(one.id, '[INFO] from one.')
  edge.log(two.id, '[INFO] from two.')
  await page.getByText('from one.').waitFor()
  await page.getByText('from two.').waitFor()
  await expect(crumbs(page)).toHaveText(['Domains', 'two-in.example.com', 'Real Time Logs'])
  await expect(page).toHaveTitle('Logs of two-in.example.com · Postern')
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Domains' }).click()
  await page.waitForURL('**/domains')
  await until('nothing to be watched', () => edge.watched().length === 0)
  visit.expectNoComplaints()
  await visit.close()
})

it('of a service has its way back to the node', async () => {
  const { visit, page } = await openLog('crumbed')
  await expect(crumbs(page)).toHaveText(['Nodes', 'HTTP Services', 'Real Time Logs'])
  await page.getByRole('link', { name: 'HTTP Services' }).click()
  await page.waitForURL(`**/nodes/${node.id}`)
  visit.expectNoComplaints()
  await visit.close()
})

async function openLog(name: string) {
  const service: HttpService = await site.api.publish(node.id, { name, pathLocation: `/${name}` })
  const visit = await site.open(`/nodes/${node.id}/http/${service.id}/logs`)
  // Installed in the page, to tell a colour by its name.
  await visit.page.evaluate(`window.hueOf = ${hueOf}`)
  await until('the edge to be asked for lines', () => edge.watched().includes(service.id))
  return { visit, page: visit.page, service }
}

function shown(page: Page): Locator {
  return page.locator('.log > div')
}

function crumbs(page: Page): Locator {
  return page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('listitem')
}

function isInView(page: Page, text: string): Promise<boolean> {
  return page.getByText(text).evaluate((line) => {
    const { bottom } = line.getBoundingClientRect()
    const pane = line.closest('.log')?.getBoundingClientRect()
    return pane !== undefined && bottom <= pane.bottom + 1
  })
}

/** The name of the colour of a line's marker, or of the line when it has none. */
function hueOf(line: Element): string {
  const canvas = document.createElement('canvas').getContext('2d')
  if (!canvas) throw new Error('No canvas')
  canvas.fillStyle = getComputedStyle(line.querySelector('.lv') ?? line).color
  canvas.fillRect(0, 0, 1, 1)
  const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data
  const [high, low] = [Math.max(red, green, blue), Math.min(red, green, blue)]
  if (high - low < 40) return 'grey'
  if (high === blue) return 'blue'
  if (high === green) return 'green'
  return green - blue > 50 ? 'yellow' : 'red'
}
