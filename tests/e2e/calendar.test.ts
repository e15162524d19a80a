import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect } from './expect.ts'
import { label, type Site, startSite } from './harness.ts'
import { expectFocus } from './steps.ts'

let site: Site

beforeAll(async () => {
  site = await startSite()
})
afterAll(() => site?.close())

const expiryOf = (form: Locator) => form.getByLabel('Expire At (Optional)')

async function openForm(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Add Token' }).first().click()
  const form = page.getByRole('dialog', { name: 'Access Token Configuration' })
  await form.waitFor()
  return form
}

describe('a day', () => {
  it('is chosen in the calendar by the keyboard alone, and no day before today', async () => {
    const node = await site.api.createNode({ name: 'site' })
    const visit = await site.open('/', { timezoneId: 'UTC' })
    const { page } = visit
    await page.clock.setFixedTime(new Date('2027-01-20T12:00:00Z'))
    await page.goto(`${site.origin}/nodes/${node.id}`)
    const form = await openForm(page)
    await form.getByLabel(label('Name')).fill('by keys')
    await page.keyboard.press('Tab')
    await expectFocus(expiryOf(form))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const calendar = page.getByRole('dialog', { name: 'Choose a date' })
    const day = (name: string) => calendar.getByRole('button', { name })
    await expectFocus(day('Wednesday, January 20, 2027'))
    await visit.expectAccessible()
    await expect(day('Tuesday, January 19, 2027')).toBeDisabled()
    await expect(calendar.getByRole('button', { name: 'Previous month' })).toBeDisabled()
    const steps = [
      ['ArrowLeft', 'Wednesday, January 20, 2027'],
      ['ArrowDown', 'Wednesday, January 27, 2027'],
      ['End', 'Saturday, January 30, 2027'],
      ['ArrowRight', 'Sunday, January 31, 2027'],
      ['PageDown', 'Sunday, February 28, 2027'],
      ['Shift+PageDown', 'Monday, February 28, 2028'],
      ['Home', 'Sunday, February 27, 2028'],
      ['ArrowUp', 'Sunday, February 20, 2028'],
      ['Shift+PageUp', 'Saturday, February 20, 2027'],
      ['PageUp', 'Wednesday, January 20, 2027'],
    ] as const
    for (const [key, name] of steps) {
      await page.keyboard.press(key)
      await expectFocus(day(name))
    }
    await page.keyboard.press('Escape')
    await calendar.waitFor({ state: 'detached' })
    await expect(form).toBeVisible()
    await expect(expiryOf(form)).toHaveValue('')
    await page.keyboard.press('Enter')
    await expectFocus(day('Wednesday, January 20, 2027'))
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await calendar.waitFor({ state: 'detached' })
    await expect(expiryOf(form)).toHaveValue('01/21/2027')
    await expectFocus(form.getByRole('button', { name: 'Choose a date' }))
    visit.expectNoComplaints()
    await visit.close()
  })

  it('is chosen with a finger, on targets that are large enough', async () => {
    const node = await site.api.createNode({ name: 'site' })
    const visit = await site.open(`/nodes/${node.id}`, { width: 390, height: 844 })
    const { page } = visit
    const form = await openForm(page)
    const button = form.getByRole('button', { name: 'Choose a date' })
    const sizes = [await button.boundingBox()]
    await button.click()
    const calendar = page.getByRole('dialog', { name: 'Choose a date' })
    await calendar.getByRole('button', { name: 'Next month' }).click()
    const first = calendar.getByRole('grid').getByRole('button').first()
    sizes.push(
      await first.boundingBox(),
      await calendar.getByRole('button', { name: 'Next month' }).boundingBox(),
    )
    for (const size of sizes) expect(Math.min(size?.width ?? 0, size?.height ?? 0)).toBeGreaterThanOrEqual(44)
    const box = await calendar.boundingBox()
    expect([(box?.x ?? -1) >= 0, (box?.x ?? 0) + (box?.width ?? 999) <= 390]).toEqual([true, true])
    await visit.expectAccessible()
    await first.click()
    await expect(expiryOf(form)).toHaveValue(/^\d\d\/01\/\d{4}$/)
    visit.expectNoComplaints()
    await visit.close()
  })
})
