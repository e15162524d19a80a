import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page, Request } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from './expect.ts'
import { label, type Site, startSite } from './harness.ts'

/** What a first visit has to load, in kB of compressed scripts: a little more than it is, so that it stays so. */
const CAPS = { login: 150, nodes: 220 }
const ASSETS = new URL('../../apps/console/dist/assets/', import.meta.url).pathname

let site: Site

beforeAll(async () => {
  site = await startSite()
})
afterAll(() => site?.close())

it('the sign-in page and the nodes stay light', async () => {
  const visit = await site.open('/no/such/page', { signedIn: false })
  const { page } = visit
  // With the clock at a standstill nothing is loaded ahead of its time.
  await page.clock.install()
  const login = await weigh(page, '/login', () => page.getByLabel(label('Username')).waitFor())
  expect(login).toBeLessThan(CAPS.login)
  const token = { name: 'token', value: site.api.token, url: site.origin, sameSite: 'Strict' } as const
  await visit.context.addCookies([token])
  const nodes = await weigh(page, '/nodes', () => page.getByRole('link', { name: 'Local' }).waitFor())
  expect(nodes).toBeLessThan(CAPS.nodes)
  visit.expectNoComplaints()
  await visit.close()
})

async function weigh(page: Page, path: string, isThere: () => Promise<void>): Promise<number> {
  const files = new Set<string>()
  const note = (request: Request) => {
    if (request.url().includes('/assets/') && request.url().endsWith('.js'))
      files.add(basename(request.url()))
  }
  page.on('request', note)
  await page.goto(`${site.origin}${path}`)
  await isThere()
  await page
    .locator('[data-sonner-toaster]')
    .or(page.locator('section[aria-label^="Notif"]'))
    .first()
    .waitFor({ state: 'attached' })
  page.off('request', note)
  const sizes = [...files].map((file) => gzipSync(readFileSync(ASSETS + file)).length)
  return sizes.reduce((sum, size) => sum + size, 0) / 1000
}
