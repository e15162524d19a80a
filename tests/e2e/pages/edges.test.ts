import type { Edge } from '@postern/contract/edge/edge'
import type { InvitedPerson } from '@postern/contract/people/people'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { expect as check, it } from 'vitest'
import { expect } from '../expect.ts'
import { addFar, connectFar, joinWith, startSiteForEdges, tokenIn } from '../far-edge.ts'
import { label, startSite } from '../harness.ts'
import { choose, menuItems, rowOf } from '../steps.ts'

const site = shared(() => startSiteForEdges())
const local = shared(() => connectFakeEdge(site.paths))
const find = async (name: string): Promise<Edge | undefined> =>
  (await site.api.listEdges()).find((edge) => edge.name === name)
const accept = (page: Page, words: string) => page.getByRole('button', { name: words }).click()
const lineOf = (page: Page) => page.getByRole('textbox', { name: 'Join command' }).inputValue()

async function fill(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add Edge' }).click()
  await page.getByRole('dialog', { name: 'Add Edge' }).getByLabel(label('Name')).fill(name)
}

it('where the port for edges is closed, the page explains a second edge, and the dialog how to open it', async () => {
  const closed = await startSite()
  try {
    const visit = await closed.open('/')
    const { page } = visit
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Edges' }).click()
    await expect(page).toHaveTitle('Edges · Postern')
    await page.getByText('With a second edge your services stay reachable').waitFor()
    await page.getByRole('button', { name: 'Add Edge' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add Edge' })
    await expect(dialog.getByLabel(label('Name'))).toHaveCount(0)
    const lines = dialog.getByRole('textbox', { name: 'Lines' })
    check(await lines.inputValue()).toBe(
      'echo POSTERN_CONTROL_LISTEN=0.0.0.0:8443 | sudo tee -a /etc/postern/environment && sudo systemctl restart postern-server',
    )
    await dialog.getByRole('button', { name: 'Docker Compose' }).click()
    check(await lines.inputValue()).toContain('  POSTERN_CONTROL_LISTEN: 0.0.0.0:8443\n')
    await dialog.getByRole('button', { name: 'Check Again' }).click()
    await expect(dialog.getByRole('button', { name: 'Check Again' })).toBeEnabled()
    await page.keyboard.press('Escape')
    await expect(dialog).toHaveCount(0)
    await visit.close()
  } finally {
    await closed.close()
  }
})

it('a machine joins by the shown line, and the dialog watches it come', async () => {
  await local.setProblems([])
  const visit = await site.open('/edges')
  visit.forgive(/409|The form was not saved/)
  const { page } = visit
  await fill(page, 'Local')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('Another edge has this name').waitFor()
  await page.getByLabel(label('Name')).fill('vienna')
  await page.getByLabel('Place (optional)').fill('Vienna, rack 3')
  await page.getByLabel('Address (optional)').fill('vienna.example.com')
  await page.getByText('could then read their passwords and tokens').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('Waiting for vienna…').waitFor()
  const papers = await joinWith(site, tokenIn(await lineOf(page)))
  await page.getByText('vienna has joined').waitFor()
  const far = await connectFar(site, papers)
  await page.getByText('vienna is connected').waitFor()
  far.report(1_000_000)
  await page.getByText('vienna is live').waitFor()
  await page.getByRole('button', { name: 'Got it!' }).click()
  const row = rowOf(page, 'vienna')
  for (const text of ['Vienna, rack 3', 'vienna.example.com', 'Connected', '0.1.0', 'Serves visitors'])
    await expect(row).toContainText(text)
  await expect(rowOf(page, 'Local')).toContainText('Beside the server, serves the console')
  await expect(page.getByText('With a second edge')).toHaveCount(0)
  far.close()
  await expect(row).toContainText('Last connected')
})

it('the line is not lost by a slip, and the place of an edge that nobody joined shows until when one may', async () => {
  const { page } = await site.open('/edges')
  await fill(page, 'linz')
  await page.keyboard.press('Enter')
  await page.getByText('Waiting for linz…').waitFor()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog', { name: 'Join a Machine' })).toHaveCount(1)
  await page.getByRole('button', { name: 'Got it!' }).click()
  await expect(rowOf(page, 'linz')).toContainText('Waiting to join')
  await expect(rowOf(page, 'linz')).toContainText('Its token works for')
  await page.getByRole('button', { name: 'Actions for linz' }).click()
  check(await menuItems(page)).toEqual(['Edit', 'New Join Token', 'Remove'])
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByText('which no machine has joined').waitFor()
  await accept(page, 'Yes, remove it!')
  await expect.poll(() => find('linz')).toBeUndefined()
})

it('an edge is edited, drained and undrained; the one beside the server always serves the console and stays', async () => {
  const far = await addFar(site, { name: 'graz' })
  const { page } = await site.open('/edges')
  await choose(page, 'Actions for graz', 'Edit')
  await page.getByLabel(label('Name')).fill('graz-2')
  await page.getByLabel('Serves the Console').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Edge updated successfully!').waitFor()
  await expect(rowOf(page, 'graz-2')).toContainText('Serves the console')
  await choose(page, 'Actions for graz-2', 'Drain')
  await page.getByText('/.well-known/postern/health').waitFor()
  await accept(page, 'Yes, drain!')
  await expect(rowOf(page, 'graz-2')).toContainText('Drained')
  check((await find('graz-2'))?.isDrained).toBe(true)
  await choose(page, 'Actions for Local', 'Drain')
  await page.getByText('No other edge is ready for visitors now.').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await choose(page, 'Actions for graz-2', 'Undrain')
  await accept(page, 'Yes, undrain!')
  await expect(rowOf(page, 'graz-2')).toContainText('Connected')
  await page.getByRole('button', { name: 'Actions for Local' }).click()
  check(await menuItems(page)).toEqual(['Edit', 'Drain'])
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await expect(page.getByLabel('Serves the Console')).toBeDisabled()
  await page.getByRole('button', { name: 'Cancel' }).click()
  far.close()
})

it('another machine takes the place of an edge, and a removed edge is cut off', async () => {
  const first = await addFar(site, { name: 'salzburg' })
  const { page } = await site.open('/edges')
  await choose(page, 'Actions for salzburg', 'New Join Token')
  await page.getByText('takes the place of the present one').waitFor()
  await page.getByText('Waiting for salzburg…').waitFor()
  check(first.isClosed()).toBe(false)
  const papers = await joinWith(site, tokenIn(await lineOf(page)))
  await expect.poll(() => first.isClosed()).toBe(true)
  const second = await connectFar(site, papers)
  second.report(1_000_000)
  await page.getByText('salzburg is live').waitFor()
  await page.getByRole('button', { name: 'Got it!' }).click()
  await choose(page, 'Actions for salzburg', 'Remove')
  await page.getByText('The server refuses salzburg at once').waitFor()
  await accept(page, 'Yes, remove it!')
  await expect(rowOf(page, 'salzburg')).toHaveCount(0)
  await expect.poll(() => second.isClosed()).toBe(true)
})

it('rows of edges, nodes and services say what does not work at which edge, and the form of the local node whom it leaves out', async () => {
  const far = await addFar(site, { name: 'bregenz' })
  const { id: node } = await site.api.createNode({ name: 'attic' })
  const wiki = await site.api.publish(node, { name: 'wiki', pathLocation: '/wiki' })
  local.sendPeers([onlinePeer(node)])
  far.send({ type: 'peers', peers: [{ ...onlinePeer(node), latestHandshake: null, reachable: false }] })
  const message = 'Port 443 is taken by another program.'
  far.report(1_000_000, [{ scope: { kind: 'edge' }, message }])
  const { page } = await site.open('/edges')
  await expect(rowOf(page, 'bregenz')).toContainText('1 problem')
  await expect(rowOf(page, 'bregenz')).toContainText(message)
  await page.goto(`${site.origin}/nodes`)
  await expect(rowOf(page, 'attic')).toContainText('Not at bregenz: no handshake')
  await page.goto(`${site.origin}/nodes/${wiki.nodeId}`)
  await page.getByText('Not at bregenz: no handshake').first().waitFor()
  await expect(rowOf(page, 'wiki')).toContainText('Not at bregenz: attic does not answer through the tunnel')
  await page.goto(`${site.origin}/services`)
  await expect(rowOf(page, 'wiki')).toContainText('Not at bregenz')
  await page.goto(`${site.origin}/nodes/attention`)
  await page.getByRole('link', { name: 'bregenz' }).click()
  await expect(page).toHaveURL(/\/edges$/)
  await page.goto(`${site.origin}/nodes`)
  await page.getByRole('link', { name: 'Local' }).click()
  await page.getByRole('button', { name: 'Add Service' }).first().click()
  await page.getByText(/Services of Local are only at the edge Local: visitors at .*bregenz/).waitFor()
  far.close()
})

it('the palette knows the page, edges by name and what is done to them', async () => {
  const far = await addFar(site, { name: 'innsbruck', place: 'Tyrol' })
  const { page } = await site.open('/nodes')
  const type = async (text: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).fill(text)
  }
  await page.getByRole('link', { name: 'Local' }).waitFor()
  await type('tyrol')
  await page.getByRole('option', { name: /innsbruck/ }).click()
  await expect(page).toHaveURL(/\/edges$/)
  await type('drain innsbruck')
  await page.getByRole('option', { name: /Drain innsbruck/ }).click()
  await accept(page, 'Yes, drain!')
  await expect(page.getByRole('button', { name: 'Yes, drain!' })).toHaveCount(0)
  check((await find('innsbruck'))?.isDrained).toBe(true)
  await type('add edge')
  await page.getByRole('option', { name: 'Add Edge' }).click()
  await expect(page.getByRole('dialog', { name: 'Add Edge' })).toHaveCount(1)
  await page.keyboard.press('Escape')
  far.close()
})

it('who may not administer sees the edges as they are; a limited person has no page of them', async () => {
  const { id: node } = await site.api.createNode({ name: 'shed' })
  const let_ = async (username: string, reach: object | null) => {
    const invite = await site.api.call('POST', '/api/people', { username, role: 'viewer', reach })
    const { token } = invite.json as InvitedPerson
    await site.api.call('POST', '/api/invites/accept', { token, password: 'long enough 1' })
    const visit = await site.open('/login', { signedIn: false })
    visit.forgive(/403|about the whole installation/)
    const { page } = visit
    await page.getByLabel(label('Username')).fill(username)
    await page.getByLabel(label('Password')).fill('long enough 1')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('link', { name: 'Your account' }).waitFor()
    return page
  }
  const whole = await let_('vera', null)
  await whole.getByRole('link', { name: 'Edges' }).click()
  await expect(rowOf(whole, 'Local')).toContainText('Connected')
  await expect(whole.getByRole('button', { name: /Add Edge|Actions for/ })).toHaveCount(0)
  const limited = await let_('lin', { nodes: [node], domains: [] })
  await expect(limited.getByRole('link', { name: 'Edges' })).toHaveCount(0)
})
