import { existsSync, readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import type { ApiToken } from '@postern/contract/api-tokens'
import type { InvitedPerson } from '@postern/contract/people/people'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, type OpenOptions } from '../harness.ts'
import { startCommandLab } from './lab.ts'

const lab = shared(startCommandLab)
const CODE = /\n {2}([A-Z]{4}-[A-Z]{4})\n/

beforeAll(async () => {
  await lab.site.api.createNode({ name: 'office' })
  await lab.site.api.createNode({ name: 'garage' })
})

/** A command that waits, and the code that it shows. */
async function login(name: string) {
  const terminal = lab.type('login', lab.site.origin, '--name', name)
  const [, code = ''] = await terminal.says(CODE)
  return { terminal, code }
}

/** The page with what asks, for a code that a person types. */
async function enter(code: string, options?: OpenOptions) {
  const visit = await lab.site.open('/device', options)
  await visit.page.getByLabel(label('Code')).fill(code)
  await visit.page.getByRole('button', { name: 'Continue' }).click()
  return visit
}
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
/** With the password, as for every token. */
async function approve(page: Page, password = lab.site.password): Promise<void> {
  await page.getByLabel(label('Your Password')).fill(password)
  await press(page, 'Approve')
}
const tokens = async () => (await lab.site.api.call('GET', '/api/tokens')).json as ApiToken[]
const serversFile = () => `${lab.home}/.config/postern/servers.json`

describe('signing in by a browser', () => {
  it('gives the command a token with the rights that the person chooses', async () => {
    const { terminal, code } = await login('home')
    expect(terminal.said()).toContain('https://203.0.113.1/device')
    expect(terminal.said()).toContain('It can be used for 10 minutes')
    expect(existsSync(serversFile())).toBe(false)
    const { page, expectAccessible } = await enter(code.toLowerCase().replace('-', ''))
    const facts = page.getByLabel('What asks')
    for (const text of [code, hostname(), '127.0.0.1']) await expect(facts).toContainText(text)
    await page.getByText('Approve only a command that you have just started yourself').waitFor()
    await expectAccessible()
    await expect(page.getByLabel(label('Name'))).toHaveValue(hostname())
    await page.getByLabel(label('Name')).fill('postern on my laptop')
    await page.getByLabel('Role').selectOption('Editor')
    await approve(page)
    await page.getByText('You can close this page.').waitFor()
    expect(await terminal.exited).toBe(0)
    expect(terminal.said()).toContain('Signed in to home as admin (editor)')
    expect(terminal.said()).not.toContain('pta_')
    expect(await page.content()).not.toContain('pta_')
    expect(statSync(serversFile()).mode & 0o777).toBe(0o600)
    expect(await lab.must('ls', 'nodes')).toContain('office')
    expect((await tokens())[0]).toMatchObject({ name: 'postern on my laptop', role: 'editor' })
  })

  it('asks who is signed out to sign in first, and keeps the code', async () => {
    const { terminal, code } = await login('second')
    const { page } = await lab.site.open(`/device#${code}`, { signedIn: false })
    await page.getByLabel(label('Username')).fill('admin')
    await page.getByLabel(label('Password')).fill(lab.site.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await expect(page.getByLabel(label('Code'))).toHaveValue(code)
    // Nothing happens by the address alone.
    await expect(page.getByLabel('What asks')).toBeHidden()
    await press(page, 'Continue')
    await approve(page)
    expect(await terminal.exited).toBe(0)
  })

  it('ends when the person denies it', async () => {
    const before = (await tokens()).length
    const { terminal, code } = await login('third')
    const { page } = await enter(code)
    await press(page, 'Deny')
    await page.getByText('The command was told so, and got nothing.').waitFor()
    expect(await terminal.exited).toBe(16)
    expect(terminal.said()).toContain('postern: The sign-in was denied in the browser')
    expect(await tokens()).toHaveLength(before)
    expect(readFileSync(serversFile(), 'utf8')).not.toContain('third')
  })

  it('gives no more than the person has', async () => {
    const [office] = (await lab.site.api.call('GET', '/api/nodes?search=office')).json as { id: number }[]
    const reach = { nodes: [office?.id], domains: [] }
    const invited = (
      await lab.site.api.call('POST', '/api/people', { username: 'eve', role: 'viewer', reach })
    ).json as InvitedPerson
    const password = 'long enough 1'
    await lab.site.api.call('POST', '/api/invites/accept', { token: invited.token, password })
    const { terminal, code } = await login('eve')
    const { page } = await lab.site.open(`/device#${code}`, { signedIn: false })
    await page.getByLabel(label('Username')).fill('eve')
    await page.getByLabel(label('Password')).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await press(page, 'Continue')
    expect(await page.getByLabel('Role').locator('option').allInnerTexts()).toEqual(['Viewer'])
    await approve(page, password)
    expect(await terminal.exited).toBe(0)
    expect(terminal.said()).toContain('Signed in to eve as eve (viewer)')
    const listed = await lab.must('ls', 'nodes', '--server', 'eve')
    expect(listed).toContain('office')
    expect(listed).not.toContain('garage')
  })

  it('tells a wrong code from one with which nothing waits, and a command that is gone', async () => {
    const { page, forgive } = await enter('AEIO-UUUU')
    forgive(/422|could not be read|was not approved/)
    await page.getByText('Enter the eight letters that the command shows').waitFor()
    await page.getByLabel(label('Code')).fill('BBBB-BBBB')
    await press(page, 'Continue')
    await page.getByText('No command waits with this code.').waitFor()
    // The server forgets what waits with a restart, which ends the wait as the ten minutes do.
    const { terminal, code } = await login('late')
    await page.getByLabel(label('Code')).fill(code)
    await press(page, 'Continue')
    await page.getByLabel('What asks').waitFor()
    await lab.site.stopServer()
    await lab.site.startServer()
    await approve(page)
    await page.getByText('No command waits with this code.').waitFor()
    expect(await terminal.exited).toBe(15)
    expect(terminal.said()).toContain('Nobody approved the code in time')
  })

  it('ends with Ctrl-C, and keeps nothing', async () => {
    const { terminal } = await login('gone')
    terminal.press('\u0003')
    expect(await terminal.exited).toBe(130)
    expect(readFileSync(serversFile(), 'utf8')).not.toContain('gone')
  })

  it.each([[[]], [['--json']]])('needs a terminal, and text: %j', async (options) => {
    const { code, stdout, stderr } = await lab.postern(['login', lab.site.origin, ...options])
    expect([code, stdout + stderr]).toEqual([2, expect.stringContaining('needs a terminal')])
  })
})

it.each([
  [1440, 'light'],
  [390, 'dark'],
] as const)('the page fits %s px in %s', async (width, scheme) => {
  const { code } = await login(`at-${width}`)
  const { page, expectAccessible } = await enter(code, { width, scheme })
  await page.getByLabel('What asks').waitFor()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  await expectAccessible()
})
