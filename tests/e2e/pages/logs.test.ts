import { readFileSync } from 'node:fs'
import type { CreatedNode } from '@postern/contract/nodes'
import type { HttpService } from '@postern/contract/services/services'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import type { CDPSession, Locator, Page } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { choose, expectClipboard } from '../steps.ts'

let edge: FakeEdge
let node: CreatedNode

const site = shared(() => startSite())
beforeAll(async () => {
  edge = await connectFakeEdge(site.paths)
  node = await site.api.createNode({ name: 'office' })
})
afterAll(() => {
  edge?.close()
})

it('shows stored and new lines, and continues after the server was down', async () => {
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
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page.getByText('Waiting for requests').waitFor()
})

it('keeps the newest thousand of ten thousand lines, and does not move while one scrolls up to read', async () => {
  const { visit, page, service } = await openLog('busy')
  const session = await visit.context.newCDPSession(page)
  await session.send('Performance.enable')
  const before = await scriptSeconds(session)
  for (let line = 1; line <= 10_000; line++) edge.log(service.id, `[INFO] line ${line}.`)
  await page.getByText('line 10000.').waitFor()
  // A tenth of a millisecond for each line, and five times that on a busy machine.
  expect(await scriptSeconds(session)).toBeLessThan(before + 5)
  await expect(shown(page)).toHaveCount(1000)
  await expect(page.getByText('line 9000.', { exact: true })).toHaveCount(0)
  await page.getByText('1000 of 1000 lines kept').waitFor()
  await expect.poll(() => isInView(page, 'line 10000.')).toBe(true)
  await page.getByRole('log').focus()
  await page.keyboard.press('Home')
  await page.getByRole('button', { name: 'Newest line' }).waitFor()
  const read = () =>
    page.getByRole('log').evaluate((pane) => [pane.scrollTop, pane.querySelector('div')?.innerText])
  await expect.poll(read).toEqual([0, '[INFO] line 9001.'])
  for (let line = 1; line <= 312; line++)
    edge.log(service.id, `[${line > 2 ? 'INFO' : 'ERROR'}] more ${line}.`)
  const pill = page.getByRole('button', { name: '312 new lines' })
  await pill.waitFor()
  await visit.expectAccessible()
  expect(await read()).toEqual([0, '[INFO] line 9001.'])
  await page.getByRole('button', { name: /^Info/ }).click()
  await page.getByRole('button', { name: '2 new lines', exact: true }).waitFor()
  await page.getByRole('button', { name: /^Info/ }).click()
  await pill.click()
  await expect.poll(() => isInView(page, 'more 312.')).toBe(true)
  await expect(pill).toHaveCount(0)
  // Using the wheel pauses; reaching the end continues.
  await page.mouse.wheel(0, -400)
  await expect.poll(() => isInView(page, 'more 312.')).toBe(false)
  edge.log(service.id, '[INFO] the last one.')
  await page.getByRole('button', { name: '1 new line' }).waitFor()
  await page.getByRole('log').focus()
  await page.keyboard.press('End')
  await expect.poll(() => isInView(page, 'the last one.')).toBe(true)
})

it('does not move while paused, and then continues with the new lines', async () => {
  const { page, service } = await openLog('paused')
  edge.log(service.id, '[INFO] before.')
  await page.getByText('before.').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  edge.log(service.id, '[INFO] meanwhile.')
  await page.getByRole('button', { name: '1 new line' }).waitFor()
  await expect(shown(page)).toHaveCount(1)
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('meanwhile.').waitFor()
})

it('shows the time of day below the date, copies whole lines, and on a phone begins with the request', async () => {
  const { visit, page, service } = await openLog('dated')
  const lines = [
    '[INFO] 2026-11-20T23:59:59.999Z 203.0.113.5 "GET /first" 200 1.2KB 14ms',
    '[WARN] 2026-11-21T00:00:00.001Z 198.51.100.4 "GET /second" 404 153B 2ms',
    '[INFO] 2026-11-21T00:00:01.500Z 203.0.113.5 "GET /third" 200 1.2KB 3ms',
  ]
  for (const line of lines) edge.log(service.id, line)
  await page.getByText('/third').waitFor()
  await expect(page.locator('.log .day')).toHaveText(['11/20/2026 UTC', '11/21/2026 UTC'])
  await expect(page.locator('.log > div time')).toHaveText(['23:59:59.999', '00:00:00.001', '00:00:01.500'])
  // From within the second line to within the third.
  await page.getByRole('log').evaluate((pane) => {
    const [, second, third] = [...pane.querySelectorAll('div')].map((line) => line.querySelector('.asked'))
    if (second && third) getSelection()?.setBaseAndExtent(second, 0, third, 1)
  })
  await page.keyboard.press('ControlOrMeta+C')
  await expectClipboard(page, lines.slice(1).join('\n'))
  await page.getByText('/first').dblclick()
  await page.keyboard.press('ControlOrMeta+C')
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('first')
  await page.setViewportSize({ width: 390, height: 844 })
  const line = shown(page).nth(1)
  const at = async (text: string) => (await line.getByText(text).boundingBox()) ?? { x: 0, y: 0, height: 0 }
  const [status, asked, time] = [await at('404'), await at('/second'), await at('00:00:00.001')]
  expect(status.x).toBeLessThan(asked.x)
  expect(Math.abs(status.y - asked.y)).toBeLessThan(status.height)
  expect(time.y).toBeGreaterThan(asked.y)
  expect(await page.getByRole('log').evaluate((pane) => pane.scrollWidth <= pane.clientWidth)).toBe(true)
  await visit.expectAccessible()
})

it('of a domain shows the lines of all its services, and a way back', async () => {
  const one = await site.api.publish(node.id, { name: 'one', domain: 'two-in.example.com' })
  const two = await site.api.publish(node.id, {
    name: 'two',
    domain: 'two-in.example.com',
    pathLocation: '/two',
  })
  const { page } = await site.open('/domains/two-in.example.com/logs')
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
})

it('of a service has a way back to the node', async () => {
  const { page } = await openLog('crumbed')
  await expect(crumbs(page)).toHaveText(['Nodes', 'HTTP Services', 'Real Time Logs'])
  await page.getByRole('link', { name: 'HTTP Services' }).click()
  await page.waitForURL(`**/nodes/${node.id}`)
})

it('wraps long lines only on request', async () => {
  const { page, service } = await openLog('long')
  edge.log(service.id, `[INFO] "GET /${'x'.repeat(2000)}" 200`)
  await page.getByText('xxx').waitFor()
  const wrap = page.getByRole('button', { name: 'Wrap lines' })
  const runsOn = () => page.locator('.log').evaluate((log) => log.scrollWidth > log.clientWidth)
  await expect(wrap).toHaveAttribute('aria-pressed', 'false')
  await expect.poll(runsOn).toBe(true)
  await wrap.click()
  await expect(wrap).toHaveAttribute('aria-pressed', 'true')
  await expect.poll(runsOn).toBe(false)
  await wrap.click()
  await expect.poll(runsOn).toBe(true)
})

it('the log of a TCP service has its own address, title and way back', async () => {
  const service = await site.api.publishPort(node.id, { name: 'followed', port: 32666, backendPort: 1883 })
  const visit = await site.open(`/nodes/${node.id}`)
  const { page } = visit
  await choose(page, 'Actions for followed', 'Logs Monitor')
  await expect(page).toHaveURL(`${site.origin}/nodes/${node.id}/tcp/${service.id}/logs`)
  await expect(page).toHaveTitle('Logs of followed · Postern')
  const crumbs = page.getByRole('navigation', { name: /breadcrumb/i })
  await expect(crumbs.getByRole('listitem')).toHaveText(['Nodes', 'TCP Services', 'Real Time Logs'])
  await page.getByText('Connections to followed appear here as they start and end.').waitFor()
  await until('the edge to be asked for lines', () => edge.watched().includes(service.id))
  edge.log(service.id, '[INFO] 2026-11-21T10:00:00.123Z 203.0.113.5:50000 opened')
  await page.getByText('203.0.113.5:50000 opened').waitFor()
  await visit.expectAccessible()
  await crumbs.getByRole('link', { name: 'TCP Services' }).click()
  await expect(page).toHaveURL(`${site.origin}/nodes/${node.id}`)
})

async function openLog(name: string) {
  const service: HttpService = await site.api.publish(node.id, { name, pathLocation: `/${name}` })
  const visit = await site.open(`/nodes/${node.id}/http/${service.id}/logs`)
  // Runs in the page, to translate a colour into its name.
  await visit.page.evaluate(`window.hueOf = ${hueOf}`)
  await until('the edge to be asked for lines', () => edge.watched().includes(service.id))
  return { visit, page: visit.page, service }
}

/** The time that the page's own scripts have taken so far. */
async function scriptSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0
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
