import { shared } from '@postern/testkit/shared'
import type { Locator, Page } from 'playwright'
import { describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, expectClipboard, expectFocus, passTimeUntil, rowOf, stopClock } from '../steps.ts'
import { cardOf, createTokenSteps, formOf, openForm, pats, readyOf, save } from '../tokens.ts'

const DAY = 86_400_000
const HINT = 'Define when the token should be revoked automatically'

const site = shared(() => startSite())
const { createNode, list, add, ask, open } = createTokenSteps(site)
const expiryOf = (form: Locator) => form.getByLabel('Expire At (Optional)')

/** The date some days from now as MM/dd/yyyy, by the page's clock. */
const dayIn = (page: Page, days: number) =>
  page.evaluate((ahead) => {
    const day = new Date()
    day.setDate(day.getDate() + ahead)
    return day.toLocaleDateString('en-US', { year: 'numeric', month: '2-digit', day: '2-digit' })
  }, days)

/** A page that loads nothing again by itself. */
async function openWithoutHints(): Promise<Page> {
  const { page, forgive } = await site.open('/')
  forgive(/ERR_FAILED|Failed to load|The stream was lost/)
  await page.route('**/api/hints/stream*', (route) => route.abort())
  return page
}

describe('the card', () => {
  it('shows name, status, expiry and actions of each token, and is as high as five of them', async () => {
    const node = await createNode('site')
    await add(node, 'ci-runner', new Date(Date.now() + 3 * DAY).toISOString())
    const old = await add(node, 'old-laptop')
    await site.api.call('PATCH', `${pats(node)}/${old.id}/revoke`)
    const visit = await open(node)
    const { page } = visit
    const card = cardOf(page)
    await expect(card.getByRole('columnheader')).toHaveText([
      'Name',
      'Status',
      'Created',
      'Last Used',
      'Expires',
      'Actions',
    ])
    await expect(rowOf(page, 'default')).toContainText('Active')
    const created = (await list(node)).find(({ name }) => name === 'default')?.created_at ?? ''
    const day = await page.evaluate((time) => new Date(time).toLocaleDateString('en-US'), created)
    const shown = await rowOf(page, 'default').locator('td[data-label="Created"]').innerText()
    expect(shown).toMatch(/^\d\d\/\d\d\/\d{4}$/)
    expect(new Date(shown)).toEqual(new Date(day))
    await expect(rowOf(page, 'ci-runner')).toContainText('Active')
    await expect(rowOf(page, 'ci-runner')).toContainText(await dayIn(page, 3))
    await expect(rowOf(page, 'old-laptop')).toContainText('Revoked')
    expect((await card.boundingBox())?.height).toBeGreaterThanOrEqual(230)
    await visit.expectAccessible()
  })

  it('shows when and from where a token was last used, at first never, and keeps that current', async () => {
    const node = await createNode('site')
    const spare = await add(node, 'spare')
    await ask(node.token)
    const page = await openWithoutHints()
    await stopClock(page)
    await page.goto(`${site.origin}/nodes/${node.id}`)
    const used = (name: string) => rowOf(page, name).locator('td[data-label="Last Used"]')
    await passTimeUntil(used('spare').getByText('Never used'))
    const Authorization = `Bearer ${spare.token}`
    await page.request.get(`${site.origin}/api/agent/config`, { headers: { Authorization } })
    await page.clock.fastForward(2 * 3_600_000 + 60_000)
    for (const name of ['default', 'spare']) await passTimeUntil(used(name).getByText('2 hours ago'))
    await expect(used('spare')).toContainText('from 127.0.0.1')
  })

  it('turns a token to Expired on its own; a revoked one stays Revoked', async () => {
    const node = await createNode('site')
    const soon = new Date(Date.now() + DAY).toISOString()
    await add(node, 'trial', soon)
    const { id } = await add(node, 'revoked', soon)
    await site.api.call('PATCH', `${pats(node)}/${id}/revoke`)
    const page = await openWithoutHints()
    await stopClock(page)
    await page.goto(`${site.origin}/nodes/${node.id}`)
    await passTimeUntil(rowOf(page, 'trial').getByText('Active'))
    await page.clock.fastForward(DAY + 2000)
    await passTimeUntil(rowOf(page, 'trial').getByText('Expired'), 1000)
    await expect(rowOf(page, 'revoked')).toContainText('Revoked')
  })

  it('shows five at a time, the newest first, and keeps page, search and order in the address', async () => {
    const node = await createNode('site')
    for (const name of ['alpha', 'Beta', 'gamma', 'delta', 'Epsilon']) await add(node, name)
    const { page } = await open(node)
    const card = cardOf(page)
    const names = card.locator('tbody .c-name')
    await expect(names).toHaveText(['Epsilon', 'delta', 'gamma', 'Beta', 'alpha'])
    await expect(card.getByText('Showing 1 to 5 of 6 results')).toBeVisible()
    await card.getByRole('button', { name: 'Next' }).click()
    await expect(names).toHaveText(['default'])
    await page.reload()
    await expect(names).toHaveText(['default'])
    await card.getByRole('button', { name: 'Name', exact: true }).click()
    await expect(names).toHaveText(['alpha', 'Beta', 'default', 'delta', 'Epsilon'])
    await card.getByRole('searchbox').fill('ELT')
    await expect(names).toHaveText(['delta'])
    expect(new URL(page.url()).search).toBe('?tokens.orderBy=name%2Casc&tokens.search=ELT')
    await card.getByRole('searchbox').fill('nothing like it')
    await card.getByRole('button', { name: 'Clear search' }).click()
    await expect(names).toHaveCount(5)
  })

  it('steps back when the last token of its page is deleted', async () => {
    const node = await createNode('site')
    for (let i = 0; i < 5; i++) await add(node, `token ${i}`)
    const { page } = await open(node, '?tokens.page=2')
    await choose(page, 'Actions for token default', 'Delete')
    await page.getByRole('button', { name: 'Yes, delete it!' }).click()
    await expect(cardOf(page).locator('tbody .c-name')).toHaveCount(5)
  })

  it('follows what other people do', async () => {
    const node = await createNode('site')
    const { page } = await open(node)
    await rowOf(page, 'default').waitFor()
    const { id } = await add(node, 'from elsewhere')
    await rowOf(page, 'from elsewhere').getByText('Active').waitFor()
    await site.api.call('PATCH', `${pats(node)}/${id}/revoke`)
    await rowOf(page, 'from elsewhere').getByText('Revoked').waitFor()
    await site.api.call('DELETE', `${pats(node)}/${id}`)
    await rowOf(page, 'from elsewhere').waitFor({ state: 'detached' })
  })

  it('is missing on the local node', async () => {
    const { page } = await site.open('/nodes/1')
    await page.getByRole('heading', { name: 'HTTP Services' }).waitFor()
    await expect(cardOf(page)).toHaveCount(0)
  })

  it('says that it could not be loaded, and never that it is empty', async () => {
    const node = await createNode('site')
    const page = await openWithoutHints()
    await page.route('**/pats?*', (route) => route.fulfill({ status: 500, json: { message: 'broken' } }))
    await page.goto(`${site.origin}/nodes/${node.id}`)
    await cardOf(page).getByText('The access tokens could not be loaded').waitFor()
    await page.unroute('**/pats?*')
    await cardOf(page).getByRole('button', { name: 'Retry' }).click()
    await rowOf(page, 'default').waitFor()
  })
})

describe('adding a token', () => {
  it('shows its value once, with an explanation, a copy button and ways to use it', async () => {
    const node = await createNode('site')
    const visit = await open(node)
    const { page } = visit
    const form = await openForm(page)
    await expect(form.getByLabel(label('Name'))).toHaveAttribute(
      'placeholder',
      'Enter a friendly name for this token',
    )
    await expect(expiryOf(form)).toHaveAttribute('placeholder', 'Select a date')
    await form.getByText(HINT).waitFor()
    await visit.expectAccessible()
    await form.getByLabel(label('Name')).fill('laptop')
    await page.keyboard.press('Enter')
    const ready = readyOf(page)
    await ready.waitFor()
    for (const text of [
      'Your new Personal Access Token has been successfully created. Make sure to store it securely, as it will not be shown again.',
      'The token is only visible once. Make sure to store it securely.',
      'laptop',
    ])
      await ready.getByText(text, { exact: true }).waitFor()
    await expect(ready.getByText('Expires')).toHaveCount(0)
    await visit.expectAccessible()
    const field = ready.getByLabel('Access token', { exact: true })
    await expect(field).toHaveAttribute('readonly')
    const token = await field.inputValue()
    await ready.getByRole('button', { name: 'Copy access token' }).click()
    await expectClipboard(page, token)
    expect((await ask(token)).json).toMatchObject({ node: { name: 'site' } })
    for (const link of await ready.getByRole('link').all()) {
      const answer = await page.request.get(
        new URL((await link.getAttribute('href')) ?? '', site.origin).href,
      )
      expect([answer.status(), answer.url()]).toEqual([
        200,
        expect.stringMatching(/\/docs\/(cli|docker|kubernetes)$/),
      ])
    }
    await expect(ready.getByRole('link')).toHaveCount(3)
    await ready.getByRole('button', { name: 'Got it!' }).click()
    await rowOf(page, 'laptop').waitFor()
    expect(await page.content()).not.toContain(token)
  })

  it('keeps the value on the screen on Escape and on a click outside, and the tick for two seconds', async () => {
    const node = await createNode('site')
    const { page, forgive } = await open(node)
    forgive(/The stream was lost/)
    await stopClock(page)
    await cardOf(page).getByRole('button', { name: 'Add Token' }).click()
    await passTimeUntil(formOf(page))
    await formOf(page).getByLabel(label('Name')).fill('kept')
    await save(page)
    const ready = readyOf(page)
    await passTimeUntil(ready)
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    await page.clock.runFor(500)
    await expect(ready).toBeVisible()
    const copied = ready.getByRole('status').filter({ hasText: 'Copied' })
    const copy = ready.getByRole('button', { name: 'Copy access token' })
    await copy.click()
    await passTimeUntil(copied)
    await expect(copy.locator('.lucide-check')).toHaveCount(1)
    await page.clock.runFor(1500)
    await expect(copied).toHaveCount(1)
    await page.clock.runFor(500)
    await expect(copied).toHaveCount(0)
    await expect(copy.locator('.lucide-copy')).toHaveCount(1)
  })

  it('checks the name and the date as they are typed, and sends nothing invalid', async () => {
    const node = await createNode('site')
    const visit = await open(node)
    const { page } = visit
    const form = await openForm(page)
    const name = form.getByLabel(label('Name'))
    await name.fill('x')
    await name.fill('')
    await form.getByText('This field is required').waitFor()
    await name.fill('x'.repeat(101))
    await form.getByText('must be less than or equal to 100 characters long').waitFor()
    const expiry = expiryOf(form)
    for (const text of ['soon', '02/30/2028', '2027-01-05']) {
      await expiry.fill(text)
      await form.getByText('must be a valid date, written MM/dd/yyyy').waitFor()
    }
    await expiry.fill(await dayIn(page, -1))
    await form.getByText('Choose today or later.').waitFor()
    await save(page)
    await expectFocus(name)
    await visit.expectAccessible()
    await expiry.fill('')
    await form.getByText(HINT).waitFor()
    expect(await list(node)).toHaveLength(1)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard' }).click()
    await form.waitFor({ state: 'detached' })
  })

  it("shows the server's errors under their field or above the form, and loses nothing", async () => {
    const node = await createNode('site')
    const { page, forgive } = await open(node)
    forgive(/Failed to load resource|The token could not be created/)
    const form = await openForm(page)
    await form.getByLabel(label('Name')).fill('patient')
    const answers = [
      { message: 'Validation failed', errors: [{ field: 'expireAt', message: 'is a holiday' }] },
      { message: 'This node has 100 access tokens' },
    ]
    await page.route(`**${pats(node)}`, (route) =>
      route.fulfill({ status: answers.length === 2 ? 422 : 409, json: answers.shift() }),
    )
    await save(page)
    await form.getByText('is a holiday').waitFor()
    await expect(expiryOf(form)).toHaveAttribute('aria-invalid', 'true')
    await save(page)
    await form.getByText('This node has 100 access tokens').waitFor()
    await expect(form.getByLabel(label('Name'))).toHaveValue('patient')
    await page.unroute(`**${pats(node)}`)
    await save(page)
    await readyOf(page).waitFor()
  })
})

describe('the last day of a token', () => {
  it.each(['America/Sao_Paulo', 'Pacific/Auckland'])(
    'may be today, and ends with it in %s',
    async (timezoneId) => {
      const node = await createNode('site')
      const { page } = await open(node, '', { timezoneId })
      const form = await openForm(page)
      await form.getByLabel(label('Name')).fill('today')
      const day = await dayIn(page, 0)
      await expiryOf(form).fill(day)
      await save(page)
      await readyOf(page).getByText(day).waitFor()
      const end = await page.evaluate(() => new Date().setHours(23, 59, 59, 999))
      expect((await list(node))[0]).toMatchObject({ name: 'today', expireAt: new Date(end).toISOString() })
      await readyOf(page).getByRole('button', { name: 'Got it!' }).click()
      await expect(rowOf(page, 'today')).toContainText('Active')
      await expect(rowOf(page, 'today')).toContainText(day)
    },
  )
})
