import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Locator, Page, Response } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { passTimeUntil, stopClock } from '../steps.ts'

/** The most kB of scripts on the wire, and the most requests, until the page can be used. */
const CAPS = { login: { scripts: 110, requests: 15 }, nodes: { scripts: 133, requests: 15 } }

const site = shared(() => startSite())

it('the sign-in page and the nodes stay light', async () => {
  const visit = await site.open('/no/such/page', { signedIn: false })
  const { page } = visit
  // Nothing is preloaded as long as the clock hardly advances.
  await stopClock(page)
  const login = await weigh(page, '/login', page.getByLabel(label('Username')))
  expect(login.scripts).toBeLessThan(CAPS.login.scripts)
  expect(login.requests).toBeLessThan(CAPS.login.requests)
  const token = { name: 'token', value: site.api.token, url: site.origin, sameSite: 'Strict' } as const
  await visit.context.addCookies([token])
  const nodes = await weigh(page, '/nodes', page.getByRole('link', { name: 'Local' }))
  expect(nodes.scripts).toBeLessThan(CAPS.nodes.scripts)
  expect(nodes.requests).toBeLessThan(CAPS.nodes.requests)
})

it('a chart weighs at most 15 kB, and only once it is seen', async () => {
  const { page } = await site.open('/domains')
  await site.api.createDomain({ domain: 'light.example.com' })
  // As above.
  await stopClock(page)
  const files: Response[] = []
  page.on('response', (response) => {
    if (/\.(js|css)$/.test(response.url())) files.push(response)
  })
  const row = page.getByRole('button', { name: 'Services of light.example.com' })
  await page.reload()
  await passTimeUntil(row)
  const isOfChart = (response: Response) => /\/Chart-/.test(response.url())
  expect(files.filter(isOfChart)).toEqual([])
  const known = files.length
  await row.click()
  await passTimeUntil(page.getByText('No requests and connections in the last 24 hours.'))
  const added = files.slice(known)
  expect(added.filter(isOfChart)).toHaveLength(1)
  const sizes = await Promise.all(added.map((response) => response.request().sizes()))
  const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
  console.info(`a chart: ${bytes} bytes in ${added.length} files`)
  expect(bytes).toBeLessThan(15_000)
})

it('both Latin fonts are loaded with the page, and once', async () => {
  const visit = await site.open('/login', { signedIn: false })
  const fonts = await visit.page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.woff2'))
      .map((entry) => [
        entry.name.replace(/.*\/|-[\w-]{8}\.woff2$/g, ''),
        (entry as PerformanceResourceTiming).initiatorType,
      ]),
  )
  expect(fonts.sort()).toEqual([
    ['geist-latin-wght-normal', 'link'],
    ['geist-mono-latin-wght-normal', 'link'],
  ])
})

it('on a slow machine the pages appear soon, and nothing blocks them for long', async () => {
  for (const path of ['/login', '/nodes']) {
    const { page } = await site.open('/no/such/page', { signedIn: path !== '/login' })
    const session = await page.context().newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    await page.addInitScript(() => {
      const seen: number[] = []
      Object.assign(window, { longTasks: seen })
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.push(duration)
      }).observe({ type: 'longtask', buffered: true })
    })
    await page.goto(`${site.origin}${path}`)
    await page.getByRole('heading').first().waitFor()
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0)
    const { paint, longest } = await page.evaluate(() => ({
      paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
      longest: Math.max(0, ...(window as unknown as { longTasks: number[] }).longTasks),
    }))
    console.info(`${path}: first paint ${Math.round(paint)} ms, longest task ${Math.round(longest)} ms`)
    // The aims are 1 s and 200 ms; a busy machine gets five times that.
    expect(paint).toBeLessThan(5000)
    expect(longest).toBeLessThan(1000)
  }
})

it('80 rows cost next to nothing while the figures of all change each second', async () => {
  const edge = await connectFakeEdge(site.paths)
  const ids: number[] = []
  for (let row = 0; row < 80; row++) ids.push((await site.api.createNode({ name: `row-${row}` })).id)
  let seconds = 0
  const send = () => {
    seconds++
    edge.sendPeers(ids.map((nodeId, row) => busyPeer(nodeId, row, seconds)))
  }
  send()
  const { page } = await site.open('/nodes?limit=100')
  const received = page.locator('tbody td[data-label^="Received"]').last()
  await expect(page.locator('tbody time')).toHaveCount(80)
  const timer = setInterval(send, 1000)
  const shown = await received.textContent()
  // The page's own time hardly depends on other programs: 4.5 ms, or 11.7 when every row is redrawn. A second attempt
  // is for extremely busy machines.
  const look = async () => {
    const cost = await costOf(page)
    const all = cost.all.toFixed(1)
    console.info(
      `80 live rows: ${cost.script.toFixed(1)} ms of script a second, ${all} ms with all but layout`,
    )
    expect(cost.script).toBeLessThan(10)
  }
  await expect(look).toPass({ timeout: 60_000 })
  clearInterval(timer)
  expect(await received.textContent()).not.toBe(shown)
  edge.close()
})

/** A node in use: its figures change each second, its handshake every two minutes. */
function busyPeer(nodeId: number, row: number, seconds: number) {
  return {
    nodeId,
    latestHandshake: Math.floor(Date.now() / 120_000) * 120_000 - row * 1500,
    rx: seconds * 9_000 + row * 1_000,
    tx: seconds * 4_000 + row * 1_000,
    clientIp: '203.0.113.7',
    reachable: true,
  }
}

/**
 * What an untouched page costs, in ms of its thread's own time per second, so that other programs do not count.
 * `script` is what the browser calls scripting, without the handlers of streams; `all` is everything except layout,
 * including those and painting.
 */
async function costOf(page: Page): Promise<{ script: number; all: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const read = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    const value = (key: string) => metrics.find(({ name }) => name === key)?.value ?? Number.NaN
    const layout = value('LayoutDuration') + value('RecalcStyleDuration')
    const at = await page.evaluate(() => performance.now() / 1000)
    return { script: value('ScriptDuration'), all: value('TaskDuration') - layout, at }
  }
  const wait = (until: number) =>
    page.waitForFunction((time) => performance.now() > time, until, { polling: 1000 })
  // Waits for what is preloaded.
  await wait(4000)
  const before = await read()
  await wait(before.at * 1000 + 8000)
  const after = await read()
  const perSecond = (key: 'script' | 'all') => ((after[key] - before[key]) / (after.at - before.at)) * 1000
  return { script: perSecond('script'), all: perSecond('all') }
}

it('hidden tabs leave their connections to the visible one', async () => {
  const visit = await site.open('/no/such/page')
  const { page: first, context } = visit
  // All pages of a test count as visible; this hides one.
  await context.addInitScript(() => {
    let state = 'visible'
    Object.defineProperty(document, 'visibilityState', { get: () => state })
    Object.assign(window, {
      goToBack() {
        state = 'hidden'
        document.dispatchEvent(new Event('visibilitychange'))
      },
    })
  })
  let page = first
  for (let tab = 1; tab <= 7; tab++) {
    if (tab > 1) {
      await page.evaluate(() => (window as unknown as { goToBack: () => void }).goToBack())
      page = await context.newPage()
    }
    await page.goto(`${site.origin}/nodes`)
    await page.getByText('Updates live').waitFor({ timeout: 30_000 })
    await page.getByRole('link', { name: 'Local' }).waitFor()
  }
})

/** The cost of a page's first visit, with nothing cached, until it shows its content; no content waits for a stream. */
async function weigh(page: Page, path: string, content: Locator) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  const responses: Response[] = []
  const note = (response: Response) => {
    if (!/ticket|stream/.test(new URL(response.url()).pathname)) responses.push(response)
  }
  page.on('response', note)
  await page.goto(`${site.origin}${path}`)
  await passTimeUntil(content)
  page.off('response', note)
  const list = responses.findIndex((response) => response.url().includes('/api/nodes?'))
  const needed = list < 0 ? responses : responses.slice(0, list + 1)
  const files = needed.filter((response) => new URL(response.url()).pathname.endsWith('.js'))
  const sizes = await Promise.all(files.map((response) => response.request().sizes()))
  return {
    scripts: sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0) / 1000,
    requests: needed.length,
  }
}
