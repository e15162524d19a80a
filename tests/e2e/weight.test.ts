import type { Locator, Page, Response } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from './expect.ts'
import { label, type Site, startSite } from './harness.ts'
import { passTimeUntil, stopClock } from './steps.ts'

/** The most kB of scripts on the wire, and the most requests, until the page can be used. */
const CAPS = { login: { scripts: 110, requests: 15 }, nodes: { scripts: 140, requests: 15 } }

let site: Site

beforeAll(async () => {
  site = await startSite()
})
afterAll(() => site?.close())

it('the sign-in page and the nodes stay light', async () => {
  const visit = await site.open('/no/such/page', { signedIn: false })
  const { page } = visit
  // While hardly any time passes nothing is loaded ahead of its time.
  await stopClock(page)
  const login = await weigh(page, '/login', page.getByLabel(label('Username')))
  expect(login.scripts).toBeLessThan(CAPS.login.scripts)
  expect(login.requests).toBeLessThan(CAPS.login.requests)
  const token = { name: 'token', value: site.api.token, url: site.origin, sameSite: 'Strict' } as const
  await visit.context.addCookies([token])
  const nodes = await weigh(page, '/nodes', page.getByRole('link', { name: 'Local' }))
  expect(nodes.scripts).toBeLessThan(CAPS.nodes.scripts)
  expect(nodes.requests).toBeLessThan(CAPS.nodes.requests)
  visit.expectNoComplaints()
  await visit.close()
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
  visit.expectNoComplaints()
  await visit.close()
})

/** What a first visit of a page takes, with nothing cached, until it shows its content; no content waits for a stream. */
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
