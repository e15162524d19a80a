import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Locator, Page, Request } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from './expect.ts'
import { label, type Site, startSite } from './harness.ts'
import { passTimeUntil, stopClock } from './steps.ts'

/** What a first visit has to load, in kB of compressed scripts: a little more than it is, so that it stays so. */
const CAPS = { login: 142, nodes: 228 }
const ASSETS = new URL('../../apps/console/dist/assets/', import.meta.url).pathname

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
  expect(login).toBeLessThan(CAPS.login)
  const token = { name: 'token', value: site.api.token, url: site.origin, sameSite: 'Strict' } as const
  await visit.context.addCookies([token])
  const nodes = await weigh(page, '/nodes', page.getByRole('link', { name: 'Local' }))
  expect(nodes).toBeLessThan(CAPS.nodes)
  visit.expectNoComplaints()
  await visit.close()
})

async function weigh(page: Page, path: string, content: Locator): Promise<number> {
  const files = new Set<string>()
  const note = (request: Request) => {
    if (request.url().includes('/assets/') && request.url().endsWith('.js'))
      files.add(basename(request.url()))
  }
  page.on('request', note)
  await page.goto(`${site.origin}${path}`)
  await passTimeUntil(content)
  page.off('request', note)
  const sizes = [...files].map((file) => gzipSync(readFileSync(ASSETS + file)).length)
  return sizes.reduce((sum, size) => sum + size, 0) / 1000
}
