import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** The row of a table that holds exactly this text. */
export function rowOf(page: Page, text: string): Locator {
  return page.getByRole('row').filter({ has: page.getByText(text, { exact: true }) })
}

/** Opens a menu by the name of its button and chooses from it. */
export async function choose(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}

export async function expectFocus(target: Locator): Promise<void> {
  await expect.poll(() => target.evaluate((element) => element === document.activeElement)).toBe(true)
}

/** What an open menu offers, once it is there. */
export async function menuItems(page: Page): Promise<string[]> {
  const items = page.getByRole('menuitem')
  await items.first().waitFor()
  return items.allInnerTexts()
}
