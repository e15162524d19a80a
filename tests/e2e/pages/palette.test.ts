import { shared } from '@postern/testkit/shared'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { expectFocus } from '../steps.ts'

/** Keys that work on every page, and the palette, which leads to everything. */
const site = shared(() => startSite())

it('the focus starts at the heading, / goes to the search and ? lists the keys, but not while one types', async () => {
  const visit = await site.open('/login', { signedIn: false })
  const { page } = visit
  const heading = (name: string) => page.getByRole('heading', { level: 1, name })
  await page.getByLabel(label('Username')).fill('admin')
  await page.getByLabel(label('Password')).fill(site.password)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.origin}/`)
  await heading('').waitFor()
  await expectFocus(heading(''))
  await page.getByRole('link', { name: 'Client / Nodes' }).first().click()
  await expectFocus(heading('Client / Nodes'))
  await page.getByRole('link', { name: 'Local' }).click()
  await expectFocus(heading('Local'))
  await page.goBack()
  await expectFocus(heading('Client / Nodes'))

  const search = page.getByRole('searchbox', { name: 'Search nodes' })
  await page.keyboard.press('/')
  await expectFocus(search)
  await expect(search).toHaveValue('')
  await page.keyboard.type('Lo?/cal')
  await page.keyboard.press('Control+k')
  await expect(search).toHaveValue(/Lo\?\/cal/)
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByRole('button', { name: 'Clear text' }).click()
  await expect(search).toHaveValue('')
  await expectFocus(search)
  await page.getByRole('link', { name: 'Local' }).focus()
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await keys.getByText('Go from row to row').waitFor()
  await page.keyboard.press('/')
  await visit.expectAccessible()
  await keys.getByRole('button', { name: 'Close' }).last().click()
  await expectFocus(page.getByRole('link', { name: 'Local' }))
  await page.getByRole('button', { name: 'Search and commands' }).click()
  await page.getByRole('combobox').fill('sign out')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/login')
})

it('the palette goes to any node, service, domain and page, creates, and signs out', async () => {
  const node = await site.api.createNode({ name: 'palace' })
  const names = ['pal-a', 'pal-b', 'pal-c', 'pal-d', 'pal-e', 'pal']
  for (const name of names) await site.api.publish(node.id, { name, domain: `${name}.example.com` })
  const visit = await site.open('/nodes')
  const { page } = visit
  const palette = page.getByRole('dialog', { name: 'Search and commands' })
  const field = palette.getByRole('combobox')
  const chosen = palette.getByRole('option', { selected: true })
  const open = async (text: string) => {
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('Control+k')
    await expectFocus(field)
    await page.keyboard.type(text)
  }
  await page.getByRole('link', { name: 'palace' }).waitFor()
  await open('')
  await visit.expectAccessible()
  await expect(chosen).toContainText('Home')
  await page.keyboard.press('ArrowUp')
  await expect(chosen).toContainText('Sign out')
  await page.keyboard.press('Escape')
  await palette.waitFor({ state: 'detached' })

  // Enter may come before the server's answer.
  await open('palace')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/nodes/${node.id}`)
  await expectFocus(page.getByRole('heading', { level: 1, name: 'palace' }))
  await open('pal')
  await expect(palette.getByRole('group', { name: 'Services' }).getByRole('option').first()).toContainText(
    'pal.example.com on palace',
  )
  await visit.expectAccessible()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/nodes/${node.id}?http.search=pal#service-*`)
  await page.getByRole('button', { name: 'Actions for pal', exact: true }).waitFor()
  await open('logs pal')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/nodes/${node.id}/http/*/logs`)
  await page.getByRole('heading', { level: 1, name: 'pal', exact: true }).waitFor()
  await open('disable pal-b')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Yes, disable it!' }).click()
  await page.getByText('Service disabled from public access successfully!').waitFor()
  await open('failed')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/nodes/attention')
  await open('pal-e.ex')
  await palette
    .getByRole('group', { name: 'Domains' })
    .getByRole('option', { name: 'pal-e.example.com' })
    .click()
  await page.waitForURL('**/domains?search=pal-e.example.com')

  await open('no such thing')
  await palette.getByText('Nothing matches').waitFor()
  await page.keyboard.press('Escape')
  await open('expose tcp')
  await expect(palette.getByRole('option')).toHaveCount(0)
  await field.fill('palace')
  await palette.getByRole('option', { name: 'Expose TCP on palace' }).click()
  await page.getByRole('dialog', { name: 'Expose TCP Service on Node' }).waitFor()
  await page.keyboard.press('Escape')
  await open('new dom')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Domain & SSL Settings' }).waitFor()
  await page.keyboard.press('Escape')
  await open('dark')
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
})

it('every command of the palette leads somewhere', async () => {
  const node = await site.api.createNode({ name: 'reached' })
  await site.api.publish(node.id, { name: 'reached-web', domain: 'reached.example.com' })
  // A session of its own, which it ends.
  const visit = await site.open('/login', { signedIn: false })
  const { page, context } = visit
  await page.getByLabel(label('Username')).fill('admin')
  await page.getByLabel(label('Password')).fill(site.password)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${site.origin}/`)
  const palette = page.getByRole('dialog', { name: 'Search and commands' })
  const dialog = (name: string) => async () => {
    await page.getByRole('dialog', { name }).waitFor()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  const address = (pattern: string) => () => page.waitForURL(`${site.origin}${pattern}`)
  const theme = (setting: string) => () =>
    expect.poll(() => page.evaluate(() => localStorage.getItem('color-scheme'))).toContain(setting)
  const commands: Record<string, () => Promise<unknown>> = {
    Home: address('/'),
    'Client / Nodes': address('/nodes'),
    'Domain Names': address('/domains'),
    Services: address('/services'),
    Edges: address('/edges'),
    Alerts: address('/alerts'),
    'Alert Rules': address('/alerts/rules'),
    History: address('/history'),
    Requests: address('/requests'),
    Account: address('/account'),
    People: address('/people'),
    Settings: address('/settings'),
    'Needs Attention': address('/nodes/attention'),
    'Why?': address('/why'),
    'Failed Services': address('/services?state=failed'),
    'Services That Do Not Answer': address('/services?state=unanswered'),
    'Disabled Services': address('/services?state=disabled'),
    Documentation: async () => {
      await expect.poll(() => context.pages().length).toBe(2)
      const docs = context.pages().find((each) => each !== page)
      await docs?.waitForURL(/\/docs/)
      await docs?.close()
    },
    'Add Client': dialog('Client / Node Configuration'),
    'Add Domain': dialog('Domain & SSL Settings'),
    'Add Edge': dialog('Add Edge'),
    Light: theme('light'),
    Dark: theme('dark'),
    'Follow the system': theme('auto'),
    'Keyboard shortcuts': dialog('Keyboard shortcuts'),
    'Sign out': address('/login'),
  }
  const found: Record<string, () => Promise<unknown>> = {
    reached: address(`/nodes/${node.id}`),
    'reached-web': address(`/nodes/${node.id}?http.search=reached-web#service-*`),
    'Logs of reached-web': address(`/nodes/${node.id}/http/*/logs`),
    'reached.example.com': address('/domains?search=reached.example.com'),
    'The only service of reached': address(`/services?node=${node.id}`),
    'Expose HTTP on reached': dialog('Expose HTTP Service on Node'),
    'Expose TCP on reached': dialog('Expose TCP Service on Node'),
  }
  const option = (name: string) => palette.getByRole('option', { name: new RegExp(`^${name}`) }).first()
  const choose = async (typed: string, name: string, leads: () => Promise<unknown>) => {
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('Control+k')
    await page.keyboard.type(typed)
    await option(name).click()
    await leads()
    await expect(palette).toHaveCount(0)
  }
  // The tables below are complete: there is no other command.
  await page.getByRole('heading', { level: 1 }).focus()
  await page.keyboard.press('Control+k')
  await expect(palette.getByRole('option')).toHaveText(
    Object.keys(commands).map((name) => new RegExp(`^${name}`)),
  )
  await page.keyboard.press('Escape')
  for (const [name, leads] of Object.entries(found)) await choose('reached', name, leads)
  for (const [name, leads] of Object.entries(commands)) await choose('', name, leads)
})
