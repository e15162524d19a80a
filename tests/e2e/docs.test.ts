import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, describe, it } from 'vitest'
import { expect } from './expect.ts'
import { startSite } from './harness.ts'

let page: Page
/** The addresses of all requests of the visit. */
const hosts = new Set<string>()

const site = shared(() => startSite())
const visit = shared(() => site.open('/login', { signedIn: false }))
beforeAll(async () => {
  page = visit.page
  page.on('request', (request) => hosts.add(new URL(request.url()).host))
})

const goTo = (path: string) => page.goto(`${site.origin}/docs${path}`)
const sidebar = () => page.getByRole('navigation', { name: 'Documentation' })

describe('on a wide screen', () => {
  it('the first page says what Postern is and where to begin', async () => {
    await goTo('')
    await page.getByText('Postern publishes services of private networks').waitFor()
    await page.locator('article').getByRole('link', { name: 'quick start', exact: true }).click()
    await page.getByRole('heading', { name: 'Quick start', level: 1 }).waitFor()
  })

  it('the sidebar shows the current page, and leads on', async () => {
    await goTo('/quick-start')
    await expect(sidebar().locator('[aria-current]')).toHaveText(['Quick start'])
    await sidebar().getByRole('link', { name: 'Sign-in' }).click()
    await page.getByRole('heading', { name: 'Sign-in in front of services', level: 1 }).waitFor()
    await expect(sidebar().locator('[aria-current]')).toHaveText(['Sign-in'])
    await page.getByRole('link', { name: 'Next TCP and UDP' }).click()
    await page.getByRole('heading', { level: 1, name: 'TCP and UDP services' }).waitFor()
  })

  it('the outline follows the reader', async () => {
    await goTo('/sign-in')
    const outline = page.getByRole('navigation', { name: 'On this page' })
    await outline.getByRole('link', { name: 'Who has signed in' }).click()
    expect(new URL(page.url()).hash).toBe('#who-has-signed-in')
    await expect(outline.locator('[aria-current]')).toHaveText(['Who has signed in'])
  })

  it('the first Tab leads to the text', async () => {
    await goTo('/cli')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect(page.locator('main')).toBeFocused()
  })

  it('the search works without a mouse', async () => {
    await goTo('/quick-start')
    await page.keyboard.press('/')
    const input = page.getByRole('combobox', { name: 'Search the documentation' })
    await expect(input).toBeFocused()
    await page.keyboard.type('exit codes')
    const options = page.getByRole('option')
    await expect(options.first()).toHaveAttribute('aria-selected', 'true')
    await expect(options.first().locator('mark').first()).toHaveText('Exit')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    const selected = page.locator('[aria-selected="true"]')
    await expect(input).toHaveAttribute('aria-activedescendant', (await selected.getAttribute('id')) ?? '')
    await visit.expectAccessible()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/cli#exit-codes')
    await page.keyboard.press('/')
    await page.keyboard.type('qqqq')
    await page.getByText('Nothing found for “qqqq”').waitFor()
    await page.keyboard.press('Escape')
    await expect(input).toBeHidden()
  })

  it('a block of code is copied', async () => {
    await goTo('/cli')
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      (await page.locator('pre').first().textContent())?.trimEnd(),
    )
  })

  it("the colour scheme is the console's, and remembered", async () => {
    await goTo('/cli')
    const root = page.locator('html')
    await page.getByRole('button', { name: 'Colour scheme: follow the system' }).click()
    await page.getByRole('button', { name: 'Colour scheme: light' }).click()
    await expect(root).toHaveAttribute('data-theme', 'dark')
    await goTo('/settings')
    await expect(root).toHaveAttribute('data-theme', 'dark')
    await page.goto(`${site.origin}/login`)
    await expect(root).toHaveAttribute('data-theme', 'dark')
    await page.evaluate(() => localStorage.removeItem('color-scheme'))
  })

  it('an unknown address still leads on', async () => {
    const errors = /status of 404/
    visit.forgive(errors)
    expect((await goTo('/no-such-page'))?.status()).toBe(404)
    await sidebar().getByRole('link', { name: 'Quick start' }).click()
    await page.getByRole('heading', { name: 'Quick start', level: 1 }).waitFor()
  })
})

it('on a phone the pages are in a drawer', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await goTo('/quick-start')
  await expect(sidebar()).toBeHidden()
  await page.getByRole('button', { name: 'Pages' }).click()
  await expect(sidebar()).toBeVisible()
  await visit.expectAccessible()
  await page.keyboard.press('Escape')
  await expect(sidebar()).toBeHidden()
  await page.getByRole('button', { name: 'Pages' }).click()
  await sidebar().getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await page.setViewportSize({ width: 1440, height: 900 })
})

it.each([390, 1024, 1440])('at %i px the whole table of settings can be read', async (width) => {
  await page.setViewportSize({ width, height: 900 })
  await goTo('/settings')
  const table = page.getByRole('region', { name: 'Table' }).first()
  const sizes = await table.evaluate((frame) => {
    const row = frame.querySelector('tr:has(#postern-acme-directory)')
    const meaning = row?.lastElementChild?.getBoundingClientRect()
    const name = row?.querySelector('code')
    return {
      hidden: frame.scrollWidth - frame.clientWidth,
      meaning: meaning?.width ?? 0,
      lines: name?.getClientRects().length,
    }
  })
  expect(sizes).toMatchObject({ hidden: 0, lines: 1 })
  expect(sizes.meaning).toBeGreaterThan(220)
  await visit.expectAccessible()
  await page.setViewportSize({ width: 1440, height: 900 })
})

it('without scripts every page can be read, and its links followed', async () => {
  const browser = page.context().browser()
  const context = await browser?.newContext({
    javaScriptEnabled: false,
    viewport: { width: 390, height: 844 },
  })
  const plain = await context?.newPage()
  if (!plain) throw new Error('there is no browser')
  await plain.goto(`${site.origin}/docs`)
  await plain.getByRole('button', { name: 'Pages' }).click()
  await plain
    .getByRole('navigation', { name: 'Documentation' })
    .getByRole('link', { name: 'Settings' })
    .click()
  await plain.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  expect(await plain.getByRole('button', { name: 'Search' }).count()).toBe(0)
  await context?.close()
})

it('a page weighs less than 60 kB, and loads nothing from elsewhere', async () => {
  const context = await page.context().browser()?.newContext()
  const fresh = await context?.newPage()
  const session = fresh && (await context?.newCDPSession(fresh))
  if (!fresh || !session) throw new Error('there is no browser')
  let bytes = 0
  const fonts = new Set<string>()
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Font' || type === 'Image') fonts.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    // Except pictures and the console's fonts, which are cached after the first page.
    if (!fonts.has(requestId)) bytes += encodedDataLength
  })
  await session.send('Network.enable')
  await fresh.goto(`${site.origin}/docs/sign-in`, { waitUntil: 'networkidle' })
  console.log(`a page of the documentation: ${(bytes / 1000).toFixed(1)} kB`)
  expect(bytes).toBeGreaterThan(1000)
  expect(bytes).toBeLessThan(60_000)
  await context?.close()
  expect([...hosts]).toEqual([new URL(site.origin).host])
})
