import { callApi } from '@postern/testkit/api'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, rowOf } from '../steps.ts'

const site = shared(() => startSite())
const edge = shared(() => connectFakeEdge(site.paths))

/** Two seconds are promised; a busy machine gets five times that. */
const FELT = { timeout: 10_000 }
const PASSWORD = 'long enough 1'
/** A name of this test does not resolve, and the parts of the whole installation are not the editor's to see. */
const EXPECTED = /401|403|422|Sign in first|about the whole installation|The form was not saved/

const save = (page: Page) => page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()

async function addNode(page: Page, name: string): Promise<number> {
  await page.goto(`${site.origin}/nodes`)
  await page.getByRole('button', { name: 'Add Client' }).first().click()
  await page.getByRole('dialog').getByLabel(label('Name')).fill(name)
  await save(page)
  const ready = page.getByRole('dialog', { name: 'Your Node is Ready' })
  await ready.waitFor()
  const { json } = await site.api.call('GET', `/api/nodes?search=${name}`)
  const [node] = json as { id: number }[]
  await page.goto(`${site.origin}/nodes`)
  await page.getByRole('link', { name, exact: true }).waitFor()
  return node?.id ?? 0
}

async function addDomain(page: Page, name: string): Promise<void> {
  await page.goto(`${site.origin}/domains`)
  await page.getByRole('button', { name: 'Add Domain' }).first().click()
  const form = page.getByRole('dialog', { name: 'Domain & SSL Settings' })
  await form.getByLabel(label('Domain')).fill(name)
  await save(page)
  await form.getByLabel('Skip Domain Validation').check()
  await save(page)
  await rowOf(page, name).waitFor()
}

/** Limits a person, or a token, in the form that is open. */
async function limit(page: Page, node: string, domain: string): Promise<void> {
  const form = page.getByRole('dialog')
  await form.getByLabel('Sees').selectOption('Chosen nodes and domains')
  await form.getByRole('combobox', { name: 'Node 1' }).fill(node)
  await page.getByRole('option', { name: new RegExp(`^${node}`) }).click()
  await form.getByRole('button', { name: 'Add Domain' }).click()
  await form.getByRole('combobox', { name: 'Domain 1' }).fill(domain)
  await page.getByRole('option', { name: domain }).click()
}

/** @returns the path of the link, with its secret part */
async function invite(page: Page, name: string, node: string, domain: string): Promise<string> {
  await page.goto(`${site.origin}/people`)
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('dialog').getByLabel(label('Name')).fill(name)
  await limit(page, node, domain)
  await save(page)
  const link = new URL(await page.getByLabel('Link', { exact: true }).inputValue())
  await page.getByRole('dialog', { name: 'Invitation' }).getByRole('button', { name: 'Got it!' }).click()
  await expect(rowOf(page, name)).toContainText('Invited')
  return link.pathname + link.hash
}

/** @returns the token of a program that edits a node */
async function makeToken(page: Page, node: string, domain: string): Promise<string> {
  await page.goto(`${site.origin}/account`)
  const card = page.getByRole('region', { name: 'API Tokens' })
  await card.getByRole('button', { name: 'Add Token' }).first().click()
  await page.getByRole('dialog').getByLabel(label('Name')).fill('nightly')
  await page.getByRole('dialog').getByLabel('Role').selectOption('Editor')
  await limit(page, node, domain)
  await page.getByRole('dialog').getByLabel(label('Your Password')).fill(site.password)
  await save(page)
  const shown = page.getByRole('dialog', { name: 'New API Token' })
  const token = await shown.getByLabel('API token', { exact: true }).inputValue()
  await shown.getByRole('button', { name: 'Got it!' }).click()
  return token
}

async function publish(page: Page, name: string, domain: string): Promise<void> {
  await page.getByRole('button', { name: 'Add Service' }).first().click()
  const form = page.getByRole('dialog', { name: 'Expose HTTP Service on Node' })
  await form.getByLabel(label('Service Name')).fill(name)
  await form.getByLabel(label('Public Domain')).fill(domain)
  await form.getByLabel(label('Backend Port')).fill('8080')
  await save(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Got it!' }).click()
}

async function editPort(page: Page, service: string, port: string): Promise<void> {
  await choose(page, `Actions for ${service}`, 'Edit Service')
  await page.getByRole('dialog').getByLabel(label('Backend Port')).fill(port)
  await save(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Got it!' }).click()
}

it('an administrator, a limited editor and a program work at the same time', async () => {
  const desk = await site.open('/nodes')
  desk.forgive(EXPECTED)
  const admin = desk.page
  const workshop = await addNode(admin, 'workshop')
  const office = await addNode(admin, 'office')
  edge.sendPeers([onlinePeer(workshop), onlinePeer(office)])
  await addDomain(admin, 'shop.example.com')
  await addDomain(admin, 'books.example.com')
  const token = await makeToken(admin, 'office', 'books.example.com')
  const program = (method: string, path: string, body?: unknown) =>
    callApi(site.paths.serverSocket, token, method, path, body)
  const path = await invite(admin, 'ann', 'workshop', 'shop.example.com')

  // The editor comes in by the link, in a browser of their own.
  const bench = await site.open(path, { signedIn: false })
  bench.forgive(EXPECTED)
  const editor = bench.page
  await editor.getByLabel(label('New Password')).fill(PASSWORD)
  await editor.getByLabel(label('The Same Again')).fill(PASSWORD)
  await editor.getByRole('button', { name: 'Sign in', exact: true }).click()
  await editor.getByRole('link', { name: 'Your account' }).waitFor()
  await expect(rowOf(admin, 'ann')).toContainText('Active')
  await editor.goto(`${site.origin}/nodes`)
  await editor.getByRole('link', { name: 'workshop', exact: true }).click()
  await editor.getByRole('heading', { name: 'workshop', level: 1 }).waitFor()

  // Both publish while the administrator looks at all services, and nobody loads a page again.
  await admin.goto(`${site.origin}/services`)
  const form = { name: 'ledger', domain: 'books.example.com', backendPort: 9000, skipValidation: true }
  const [published] = await Promise.all([
    program('POST', `/api/services/${office}/http`, form),
    publish(editor, 'web', 'shop.example.com'),
  ])
  expect(published.status, published.text).toBe(201)
  const ledger = published.json as { id: number }
  await expect(rowOf(admin, 'web')).toContainText('shop.example.com')
  await expect(rowOf(admin, 'ledger')).toContainText('books.example.com')
  await rowOf(editor, 'web').getByText('Live').waitFor()

  // The program sees its half, changes it, and is told who could change the other.
  const { json: seen } = await program('GET', '/api/services/http')
  expect((seen as { name: string }[]).map(({ name }) => name)).toEqual(['ledger'])
  const refused = await program('POST', '/api/domains', { domain: 'new.example.com', skipValidation: true })
  expect([refused.status, refused.json]).toMatchObject([
    403,
    { code: 'role', message: expect.stringContaining('Ask an administrator.') },
  ])
  const { json: all } = await site.api.call('GET', '/api/services/http?search=shop.example.com')
  const [web] = all as { id: number }[]
  expect((await program('GET', `/api/services/${workshop}/http/${web?.id}`)).status).toBe(404)
  const url = `/api/services/${office}/http/${ledger.id}`

  // Each sees what the other does, live; the editor nothing of the other node.
  await editor.goto(`${site.origin}/services`)
  await rowOf(editor, 'web').waitFor()
  const [renamed] = await Promise.all([
    program('PATCH', url, { name: 'accounts' }),
    editPort(admin, 'web', '8081'),
  ])
  expect(renamed.status, renamed.text).toBe(200)
  await expect(rowOf(editor, 'web')).toContainText('8081')
  await rowOf(admin, 'accounts').waitFor()
  await editPort(editor, 'web', '8082')
  await expect(rowOf(admin, 'web')).toContainText('8082')
  for (const hidden of ['ledger', 'accounts', 'office', 'books.example.com'])
    await expect(editor.getByText(hidden)).toHaveCount(0)

  // History has all three by their names, and takes the editor's change back.
  await admin.goto(`${site.origin}/history`)
  const changes = admin.locator('.table.changes tbody tr')
  const byEditor = changes.filter({ hasText: 'Service updated “web”' }).filter({ hasText: 'ann' })
  await expect(byEditor).toContainText('Backend Port before: 8081 → , after: 8082')
  await expect(changes.filter({ hasText: 'Service updated “accounts”' })).toContainText('nightly')
  await expect(changes.filter({ hasText: 'before: 8080 → , after: 8081' })).toContainText('admin')
  await byEditor.getByRole('button').click()
  await admin.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
  await admin.getByText('Change taken back successfully!').waitFor()
  await expect(rowOf(editor, 'web')).toContainText('8081')
  await editor.goto(`${site.origin}/history`)
  await editor.locator('.table.changes tbody tr').first().waitFor()
  for (const hidden of ['ledger', 'accounts', 'nightly', 'books.example.com'])
    await expect(editor.getByText(hidden)).toHaveCount(0)

  // A smaller role is in force at once: a form that is open still says who could save it.
  await editor.goto(`${site.origin}/services`)
  await choose(editor, 'Actions for web', 'Edit Service')
  await editor.getByRole('dialog').getByLabel(label('Backend Port')).fill('8083')
  await admin.goto(`${site.origin}/people`)
  await choose(admin, 'Actions for ann', 'Edit')
  await admin.getByRole('dialog').getByLabel('Role').selectOption('Viewer')
  await save(admin)
  await expect(rowOf(admin, 'ann')).toContainText('Viewer')
  await save(editor)
  await editor.getByText('Your role does not allow this. Ask an editor or an administrator.').waitFor()
  await editor.goto(`${site.origin}/services`)
  await rowOf(editor, 'web').waitFor()

  // Narrowed to the domain alone, they see nothing of the node; with no session, the sign-in.
  await choose(admin, 'Actions for ann', 'Edit')
  await admin.getByRole('dialog').getByRole('combobox', { name: 'Node 1' }).fill('office')
  await admin.getByRole('option', { name: /^office/ }).click()
  await save(admin)
  await expect(rowOf(admin, 'ann')).toContainText('office and shop.example.com')
  await rowOf(editor, 'accounts').waitFor(FELT)
  await expect(rowOf(editor, 'web')).toHaveCount(0)
  await choose(admin, 'Actions for ann', 'End All Sessions')
  await admin.getByRole('button', { name: 'Yes, end them!' }).click()
  await editor.waitForURL('**/login', FELT)
})
