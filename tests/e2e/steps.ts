import type { Locator, Page } from 'playwright'
import { expect } from './expect.ts'

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

/** Stops the page's clock: from now on, time passes only through `page.clock.runFor`. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.install()
  // It must be paused at a future time, which on a busy machine may already have passed.
  let ahead = 1000
  const pause = async () => {
    ahead *= 2
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + ahead)
  }
  await expect(pause).toPass({ timeout: 60_000 })
}

/** Advances the clock in steps of some ms until the target is there: answers of the server take a moment. */
export async function passTimeUntil(target: Locator, step = 10): Promise<void> {
  const { clock } = target.page()
  const pass = async () => {
    await clock.runFor(step)
    return target.count()
  }
  await expect.poll(pass).toBeGreaterThan(0)
}

/** Copying finishes a moment after the click. */
export async function expectClipboard(page: Page, content: string | RegExp): Promise<string> {
  const read = () => page.evaluate(() => navigator.clipboard.readText())
  const wanted =
    typeof content === 'string' ? expect.stringContaining(content) : expect.stringMatching(content)
  await expect.poll(read).toEqual(wanted)
  return read()
}

/** The entries of a menu, once it is open. */
export async function menuItems(page: Page): Promise<string[]> {
  const items = page.getByRole('menuitem')
  await items.first().waitFor()
  return items.allInnerTexts()
}
