import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, expectFocus, rowOf } from '../steps.ts'

/** Nothing needs a pointer, dialogs keep the focus and give it back, and nothing typed is lost without a question. */
const site = shared(() => startSite())

it('creates a gateway and publishes a service by keyboard alone', async () => {
  const { page } = await site.open('/nodes')
  await page.getByRole('heading', { name: 'Client / Nodes' }).waitFor()
  await tabTo(page, 'Add Client')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Client / Node Configuration' }).waitFor()
  await expectFocus(page.getByLabel(label('Name')))
  await page.keyboard.type('attic')
  await tabTo(page, 'Act as a network gateway')
  await page.keyboard.press('Space')
  await tabTo(page, 'Subnet 1')
  await page.keyboard.type('192.168.7.9/24')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Your Node is Ready' }).waitFor()
  const compose = page.getByLabel('Compose lines', { exact: true })
  await expect(compose).toHaveValue(
    /^x-url: .+\nx-token: &token ptn_\S+\n.+\nx-network: &network 192\.168\.7\.0\/24$/,
  )
  await tabTo(page, 'Got it!')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Actions for attic')
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'View Node Details' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'attic' }).waitFor()
  await page.getByText('No HTTP services yet').waitFor()

  await tabTo(page, 'Add Service')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Expose HTTP Service on Node' }).waitFor()
  await expectFocus(page.getByLabel(label('Service Name')))
  await page.keyboard.type('printer')
  await tabTo(page, 'Public HTTP Path')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('/printer')
  await tabTo(page, 'Hostname/IP')
  await page.keyboard.type('192.168.7.40')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Saved' }).waitFor()
  await page.keyboard.press('Escape')
  await rowOf(page, 'printer').waitFor()
})

it('a whole row opens by pointer and by keys, and is one tab stop beside its menu', async () => {
  const names = ['row-one', 'row-two']
  const nodes = await Promise.all(names.map((name) => site.api.createNode({ name })))
  const one = nodes.find(({ name }) => name === 'row-one')
  if (!one) throw new Error('row-one was asked for')
  for (const name of ['shop', 'blog']) await site.api.publish(one.id, { name, pathLocation: `/row-${name}` })
  const visit = await site.open('/nodes?search=row-')
  const { page, context } = visit
  const row = rowOf(page, 'row-one')
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const address = row.getByText(one.address)
  await expect(row.getByRole('cell').nth(3)).toHaveText('2')
  await expect(rowOf(page, 'row-two').getByRole('cell').nth(3)).toHaveText('-')

  // Opens a new tab, like any link.
  const ways = [
    () => address.click({ modifiers: ['ControlOrMeta'] }),
    () => address.click({ button: 'middle' }),
  ]
  for (const click of ways) {
    const [tab] = await Promise.all([context.waitForEvent('page'), click()])
    await tab.waitForURL(`**/nodes/${one.id}`)
    await tab.close()
  }
  // A mere explanation does both: it shows its text, and is a part of the row.
  const badge = row.getByRole('button', { name: /^Node/ })
  await badge.hover()
  await page.locator('.tooltip').getByText('only routes traffic to itself').waitFor()
  await badge.click()
  await page.waitForURL(`**/nodes/${one.id}`)
  await page.goBack()
  await link('row-one').waitFor()

  // Someone who selects text is reading, and wants to stay. Hovering waits until the row is stable.
  await address.hover()
  const box = await address.boundingBox()
  if (!box) throw new Error('The address is not on the screen')
  await page.mouse.move(box.x + 1, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2, { steps: 4 })
  await page.mouse.up()
  expect(await page.evaluate(() => String(getSelection()))).toContain(one.address.slice(1, -1))
  await expect(page).toHaveURL(/search=row-/)

  // By keys: from row to row, into the row, and on.
  await tabTo(page, 'row-one')
  await page.keyboard.press('ArrowDown')
  await expectFocus(link('row-two'))
  await page.keyboard.press('ArrowDown')
  await expectFocus(link('row-two'))
  await page.keyboard.press('ArrowUp')
  await expectFocus(link('row-one'))
  // No cell with its own layer covers the ring around the row.
  await expect(row.locator('.c-act')).toHaveCSS('position', 'static')
  const stops: (string | undefined)[] = []
  for (let press = 0; press < 3; press++) {
    await page.keyboard.press('Tab')
    stops.push(await page.evaluate(nameOfFocus))
  }
  expect(stops).toEqual(['Actions for row-one', 'row-two', 'Actions for row-two'])
  await link('row-one').focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/nodes/${one.id}`)

  // A service opens its log; its address is one arrow key away, and the remedy for its state the next.
  await link('shop').focus()
  await page.keyboard.press('ArrowRight')
  await expectFocus(rowOf(page, 'shop').getByRole('link').nth(1))
  await page.keyboard.press('ArrowRight')
  await expectFocus(rowOf(page, 'shop').getByRole('link', { name: 'What to do' }))
  await page.keyboard.press('ArrowRight')
  await expectFocus(page.getByRole('button', { name: 'Actions for shop' }))
  await page.keyboard.press('Shift+Tab')
  await expectFocus(link('shop'))
  await choose(page, 'Actions for shop', 'Info')
  await page.getByRole('button', { name: 'Got it!' }).click()
  await page.waitForURL(`**/nodes/${one.id}`)
  await rowOf(page, 'shop').getByText('Proxy ->').click()
  await page.waitForURL(`**/nodes/${one.id}/http/*/logs`)
})

it("a domain's row expands, and on a phone every row has room for a finger", async () => {
  await site.api.createDomain({ domain: 'rows.example.com' })
  const { page } = await site.open('/domains?search=rows.example')
  const services = page.getByRole('region', { name: 'HTTP Services of rows.example.com' })
  const day = rowOf(page, 'rows.example.com').getByRole('cell').nth(3)
  await day.click()
  await services.waitFor()
  await day.click()
  await services.waitFor({ state: 'detached' })

  const dots = page.getByRole('button', { name: 'Actions for rows.example.com' })
  const colour = () => dots.evaluate((button) => getComputedStyle(button).color)
  const loud = await colour()
  await page.mouse.move(5, 5)
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  expect(await colour()).not.toBe(loud)
  await dots.focus()
  expect(await colour()).toBe(loud)

  await page.setViewportSize({ width: 390, height: 844 })
  for (const target of [dots, page.getByRole('button', { name: 'Services of rows.example.com' })]) {
    const box = await target.boundingBox()
    expect([box?.width, box?.height]).toEqual([44, 44])
  }
})

it('a name in Arabic does not disturb the text beside it', async () => {
  const name = '\u0645\u0643\u062a\u0628 2'
  const { address } = await site.api.createNode({ name })
  const { page } = await site.open(`/nodes?search=${encodeURIComponent(name)}`)
  const row = page.getByRole('row').filter({ has: page.getByText(address) })
  const [left, right] = await Promise.all([
    row.getByRole('link').boundingBox(),
    row.getByText(address).boundingBox(),
  ])
  expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThanOrEqual(right?.x ?? 0)
  await row.getByRole('link').click()
  await page.getByRole('heading', { name }).waitFor()
})

it('a dialog keeps the focus inside and gives it back to what opened it', async () => {
  await site.api.createNode({ name: 'kept' })
  const { page } = await site.open('/nodes')
  const add = page.getByRole('button', { name: 'Add Client' })
  await add.click()
  const dialog = page.getByRole('dialog')
  // The dialog takes the focus, and gives it back from its last control to its first, a moment after the key.
  const holdsFocus = () => dialog.evaluate((box) => box.contains(document.activeElement))
  await expect.poll(holdsFocus).toBe(true)
  for (let press = 0; press < 20; press++) {
    await page.keyboard.press('Tab')
    await expect.poll(holdsFocus).toBe(true)
  }
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expectFocus(add)
  await choose(page, 'Actions for kept', 'Edit Node')
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expectFocus(page.getByRole('button', { name: 'Actions for kept' }))
})

it('Escape and a click outside ask first when something was typed, and close at once when not', async () => {
  const { page } = await site.open('/domains')
  const form = page.getByRole('dialog', { name: 'Domain & SSL Settings' })
  const question = page.getByRole('alertdialog', { name: 'Discard changes?' })
  const leave = [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)]
  for (const go of leave) {
    await page.getByRole('button', { name: 'Add Domain' }).first().click()
    await form.waitFor()
    await go()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add Domain' }).first().click()
    await form.getByLabel(label('Domain')).fill('typed.example.com')
    await go()
    await question.waitFor()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    await question.waitFor({ state: 'detached' })
    await expect(form.getByLabel(label('Domain'))).toHaveValue('typed.example.com')
    await go()
    await page.getByRole('button', { name: 'Discard' }).click()
    await form.waitFor({ state: 'detached' })
  }
})

it('what is shown only once is not closed by a click outside or Escape', async () => {
  const { page } = await site.open('/')
  await page.getByRole('button', { name: 'Create Node' }).click()
  await page.getByLabel(label('Name')).fill('from home')
  await page.keyboard.press('Enter')
  const ready = page.getByRole('dialog', { name: 'Your Node is Ready' })
  await ready.waitFor()
  await page.mouse.click(5, 5)
  await page.keyboard.press('Escape')
  await expect(ready).toBeVisible()
  await ready.getByRole('button', { name: 'Got it!' }).click()
  await page.waitForURL('**/nodes')
})

it('menus and the drawer close on Escape and on a click outside', async () => {
  const { page } = await site.open('/', { width: 390, height: 800 })
  const home = page.getByRole('link', { name: 'Domain Names' })
  const open = page.getByRole('button', { name: 'Open menu' })
  for (const close of [() => page.keyboard.press('Escape'), () => page.mouse.click(380, 600)]) {
    await open.click()
    await home.waitFor()
    await close()
    await home.waitFor({ state: 'hidden' })
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  const item = page.getByRole('menuitem', { name: 'Documentation' })
  for (const close of [() => page.keyboard.press('Escape'), () => page.mouse.click(700, 850)]) {
    await page.getByRole('button', { name: 'Help' }).click()
    await item.waitFor()
    await close()
    await item.waitFor({ state: 'hidden' })
  }
})

/** Presses Tab until the element of that name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const names: (string | undefined)[] = []
  for (let press = 0; press < 40; press++) {
    await page.keyboard.press('Tab')
    names.push(await page.evaluate(nameOfFocus))
    if (names.at(-1) === name) return
  }
  expect(names).toContain(name)
}

function nameOfFocus(): string | undefined {
  const element = document.activeElement
  const labelText = element instanceof HTMLInputElement ? element.labels?.[0] : undefined
  const text =
    element?.getAttribute('aria-label') ??
    (labelText?.querySelector('b') ?? labelText ?? element)?.textContent
  return text?.replace(/\s*\*$/, '').trim()
}
