import { shared } from '@postern/testkit/shared'
import type { Locator, Page } from 'playwright'
import { describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { expectFocus } from '../steps.ts'
import { openForm } from '../tokens.ts'

const site = shared(() => startSite())

const expiryOf = (form: Locator) => form.getByLabel('Expire At (Optional)')
const buttonOf = (form: Locator) => form.getByRole('button', { name: 'Choose a date' })
/** The browser's own calendar is not part of the page: this is the field whose value it sets. */
const calendarOf = (form: Locator) => form.locator('input[type="date"]')

/** Whether the browser shows the calendar of the field. */
const isOpen = (form: Locator) => calendarOf(form).evaluate((field) => field.matches(':open'))

async function openTokenForm(page: Page, node: { id: number }): Promise<Locator> {
  await page.goto(`${site.origin}/nodes/${node.id}`)
  return openForm(page)
}

describe('a day', () => {
  it("can be chosen in the browser's calendar by keyboard alone, but not before today", async () => {
    const node = await site.api.createNode({ name: 'site' })
    const visit = await site.open('/', { timezoneId: 'UTC' })
    const { page } = visit
    await page.clock.setFixedTime(new Date('2027-01-20T12:00:00Z'))
    const form = await openTokenForm(page, node)
    await form.getByLabel(label('Name')).fill('by keys')
    await page.keyboard.press('Tab')
    await expectFocus(expiryOf(form))
    await page.keyboard.type('1/21/2027')
    await page.keyboard.press('Tab')
    await expectFocus(buttonOf(form))
    await expect(expiryOf(form)).toHaveValue('01/21/2027')
    await expect(calendarOf(form)).toHaveValue('2027-01-21')
    await expect(calendarOf(form)).toHaveAttribute('min', '2027-01-20')
    await page.keyboard.press('Enter')
    await expect.poll(() => isOpen(form)).toBe(true)
    await visit.expectAccessible()
    await page.keyboard.press('Escape')
    await expect.poll(() => isOpen(form)).toBe(false)
    await expect(form).toBeVisible()
    await page.keyboard.press('Enter')
    await expect.poll(() => isOpen(form)).toBe(true)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await expect.poll(() => isOpen(form)).toBe(false)
    await expect(expiryOf(form)).toHaveValue('01/22/2027')
    await expectFocus(buttonOf(form))
  })

  it('can be chosen with a finger, on a target that is large enough', async () => {
    const node = await site.api.createNode({ name: 'site' })
    const visit = await site.open('/', { width: 390, height: 844 })
    const { page } = visit
    const form = await openTokenForm(page, node)
    const size = await buttonOf(form).boundingBox()
    expect(Math.min(size?.width ?? 0, size?.height ?? 0)).toBeGreaterThanOrEqual(44)
    await buttonOf(form).click()
    await expect.poll(() => isOpen(form)).toBe(true)
    await visit.expectAccessible()
    await calendarOf(form).fill('2031-03-31')
    await expect(expiryOf(form)).toHaveValue('03/31/2031')
    await calendarOf(form).fill('')
    await expect(expiryOf(form)).toHaveValue('')
  })
})
