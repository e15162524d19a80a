import { shared } from '@postern/testkit/shared'
import type { Locator, Page } from 'playwright'
import { describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, expectFocus, rowOf } from '../steps.ts'

/** A slow server, an impatient person, and the browser's own buttons. */
const site = shared(() => startSite())

describe('while the server takes its time', () => {
  it('a form shows that it is busy, and a double click on Save saves once', async () => {
    const { page } = await site.open('/nodes')
    const held = await holdBack(page, 'POST')
    await page.getByRole('button', { name: 'Add Client' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel(label('Name')).fill('twice')
    expect((await form.boundingBox())?.y).toBe(90)
    const save = form.getByRole('button', { name: 'Save' })
    const before = await looksOf(save)
    await save.dblclick()
    await expect(form.getByRole('button', { name: 'Save' })).toBeDisabled()
    await expect(form.getByRole('button', { name: 'Save' })).toHaveAttribute('aria-busy', 'true')
    expect(await looksOf(save)).toEqual(before)
    const [button, spinner] = [await save.boundingBox(), await save.locator('.spin').boundingBox()]
    expect(middleOf(spinner)).toBeCloseTo(middleOf(button), 0)
    await expect(form.getByRole('button', { name: 'Cancel' })).toBeDisabled()
    await page.keyboard.press('Escape')
    await expect.poll(held.count).toBe(1)
    held.release()
    await page.getByText('Your Node is Ready').waitFor()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await expect(rowOf(page, 'twice')).toHaveCount(1)
  })

  it('a confirmed question stays, busy, until it is done', async () => {
    await site.api.createNode({ name: 'slow' })
    const { page } = await site.open('/nodes')
    const held = await holdBack(page, 'DELETE')
    await choose(page, 'Actions for slow', 'Delete Node')
    const question = page.getByRole('alertdialog')
    await question.getByRole('button', { name: 'Yes, delete it!' }).dblclick()
    await expect(question.getByRole('button', { name: 'Yes, delete it!' })).toBeDisabled()
    await expect(question.getByRole('button', { name: 'Cancel' })).toBeDisabled()
    await page.keyboard.press('Escape')
    await question.waitFor()
    await expect.poll(held.count).toBe(1)
    held.release()
    const toast = page.locator('.toast').getByText('Node deleted successfully!')
    await toast.waitFor()
    const font = (element: Element) => getComputedStyle(element).fontFamily
    expect(await toast.evaluate(font)).toBe(await page.locator('body').evaluate(font))
    await expect(question).toHaveCount(0)
    await expect(rowOf(page, 'slow')).toHaveCount(0)
    // The button that opened it is gone with its row.
    await expectFocus(page.locator('#main'))
  })

  it('the logs of a service hold their place', async () => {
    const node = await site.api.createNode({ name: 'host' })
    const service = await site.api.publish(node.id, { name: 'web', domain: 'slow.example.com' })
    const { page } = await site.open('/nodes')
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(`**/http/${service.id}`, async (route) => {
      await gate
      await route.continue()
    })
    await page.goto(`${site.origin}/nodes/${node.id}/http/${service.id}/logs`)
    const pane = page.locator('.logpane')
    await pane.and(page.locator('[aria-busy=true]')).waitFor()
    const before = await pane.boundingBox()
    release()
    await page.getByText('Waiting for requests').waitFor()
    await expect.poll(async () => (await pane.boundingBox())?.y).toBe(before?.y)
  })
})

describe("the browser's Back", () => {
  it('asks before it closes a form with something typed', async () => {
    const { page } = await site.open('/domains')
    await page.getByRole('link', { name: 'Client / Nodes' }).click()
    await page.getByRole('button', { name: 'Add Client' }).click()
    const form = page.getByRole('dialog', { name: 'Client / Node Configuration' })
    await form.getByLabel(label('Name')).fill('typed')
    await page.goBack()
    await page.getByText('Discard changes?').waitFor()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    await expect(page).toHaveURL(/\/nodes$/)
    await expect(form.getByLabel(label('Name'))).toHaveValue('typed')
    await page.goBack()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.waitForURL('**/domains')
    await expect(form).toHaveCount(0)
  })

  it('answers an open question with no', async () => {
    await site.api.createNode({ name: 'kept' })
    const { page } = await site.open('/domains')
    await page.getByRole('link', { name: 'Client / Nodes' }).click()
    await choose(page, 'Actions for kept', 'Delete Node')
    await page.getByRole('alertdialog').waitFor()
    await page.goBack()
    await page.getByText('No domains yet').or(page.getByRole('table')).waitFor()
    await expect(page.getByRole('alertdialog')).toHaveCount(0)
  })

  it("does not close a token's only view without asking, and closes what holds nothing", async () => {
    const { page } = await site.open('/domains')
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    await page.getByRole('button', { name: 'Create Node' }).click()
    await page.getByLabel(label('Name')).fill('once')
    await page.keyboard.press('Enter')
    const token = page.getByLabel('Node token', { exact: true })
    await token.waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Stay' }).click()
    await expect(token).toHaveValue(/^ptn_/)
    await page.getByRole('button', { name: 'Got it!' }).click()
    await page.waitForURL('**/nodes')
    await page.getByRole('button', { name: 'Add Client' }).click()
    await page.getByRole('dialog').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: /^Welcome/ }).waitFor()
    await expect(page.getByRole('dialog')).toHaveCount(0)
  })

  it('and a reload show a page where it was left, a link shows the next one from its top', async () => {
    for (let row = 0; row < 15; row++) await site.api.createNode({ name: `tall-${row}` })
    const { page } = await site.open('/nodes?limit=50', { height: 300 })
    const last = page.getByRole('link', { name: 'tall-14' })
    const scrolled = () => page.evaluate(() => Math.round(window.scrollY))
    const expectPlace = (place: number) =>
      expect.poll(async () => Math.abs((await scrolled()) - place)).toBeLessThan(20)
    await last.focus()
    const left = await scrolled()
    expect(left).toBeGreaterThan(100)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'tall-14' }).waitFor()
    expect(await scrolled()).toBe(0)
    await page.goBack()
    await last.waitFor()
    await expectPlace(left)
    await page.reload()
    await last.waitFor()
    await expectPlace(left)
  })
})

/** Its width and its colour, without the pointer over it. */
async function looksOf(button: Locator) {
  await button.page().mouse.move(1, 1)
  return button.evaluate((element) => {
    for (const animation of element.getAnimations()) animation.finish()
    return [element.getBoundingClientRect().width, getComputedStyle(element).backgroundColor]
  })
}

function middleOf(box: { x: number; width: number } | null): number {
  return box ? box.x + box.width / 2 : Number.NaN
}

/** Holds back requests of a method until they are released, and counts them. */
async function holdBack(page: Page, method: string) {
  const waiting: (() => void)[] = []
  await page.route('**/api/nodes**', async (route) => {
    if (route.request().method() === method) await new Promise<void>((resolve) => waiting.push(resolve))
    await route.continue()
  })
  const release = () => {
    for (const go of waiting) go()
  }
  return { count: () => waiting.length, release }
}
