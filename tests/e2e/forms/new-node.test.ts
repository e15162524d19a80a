import type { Node } from '@postern/contract/nodes'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { expectClipboard } from '../steps.ts'

const site = shared(() => startSite())
const edge = shared(() => connectFakeEdge(site.paths))

it('shows the one-time token and the command that connects it, and adds the row', async () => {
  const visit = await site.open('/nodes')
  const { page } = visit
  await page.getByRole('button', { name: 'Add Client' }).first().click()
  const form = page.getByRole('dialog', { name: 'Client / Node Configuration' })
  await form.getByLabel(label('Name')).fill('office')
  await visit.expectAccessible()
  await page.keyboard.press('Enter')
  const ready = page.getByRole('dialog', { name: 'Your Node is Ready' })
  await ready.waitFor()
  await visit.expectAccessible()
  for (const text of [
    'Recommended',
    'This token is visible only once. Store it securely.',
    'The command stores the token on the machine.',
    "If you lose it, generate a new one on the node's page.",
    'Configuring postern...',
    'Connecting node...',
    'Connection established!',
  ])
    await ready.getByText(text).first().waitFor()
  await expect(ready.getByLabel('Node token', { exact: true })).toHaveAttribute('readonly')
  await expect(ready.locator('ol > li h4')).toHaveText([/^Install the CLI/, /^Connect the machine/])
  const install = ready.getByLabel('Install command', { exact: true })
  // One line, however long, that scrolls sideways.
  const sizes = await install.evaluate(({ clientHeight, clientWidth, scrollWidth }) => ({
    lines: clientHeight < 40,
    scrolls: scrollWidth > clientWidth,
  }))
  expect(sizes).toEqual({ lines: true, scrolls: true })
  await ready.getByRole('button', { name: 'Copy install command' }).click()
  const installed = await expectClipboard(page, /^f=\$\(mktemp\) /)
  expect(installed).toBe(await install.inputValue())
  expect(installed).toMatch(/^\S.*echo "[0-9a-f]{64} {2}\S+" \| sha256sum -c && .*\S$/)
  const token = await ready.getByLabel(/token/i).first().inputValue()
  expect(token).toMatch(/^ptn_\S{30,}$/)
  await page.keyboard.press('Escape')
  await ready.waitFor()
  await ready.getByRole('button', { name: 'Copy command', exact: true }).click()
  const copied = await expectClipboard(page, /^.*postern connect/)
  const command =
    /^echo (\S+) \| postern connect --url=https:\/\/203\.0\.113\.1 --token - --fingerprint=sha256:[0-9a-f]{64}$/
  expect(command.exec(copied)?.[1]).toBe(token)
  await ready.getByRole('button', { name: 'Copy short command' }).click()
  const short = await expectClipboard(page, /^postern connect/)
  expect(short).toMatch(
    /^postern connect --url=https:\/\/203\.0\.113\.1 --token=\S+ --fingerprint=sha256:\w{64}$/,
  )
  expect(short).toContain(`--token=${token} `)
  // The token appears nowhere on the screen except in its own field.
  const shown = await ready.innerText()
  expect(shown).toContain('--token=SECRET')
  expect(shown).not.toContain(token)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    ready.getByRole('button', { name: 'Download Configuration' }).click(),
  ])
  expect(file.suggestedFilename()).toBe('postern-office.conf')
  await ready.getByRole('button', { name: 'Got it!' }).click()
  await page.getByRole('link', { name: 'office', exact: true }).waitFor()
})

it('waits for the node, says where it connected from, and leads on to a service', async () => {
  const visit = await site.open('/nodes')
  const { page } = visit
  await page.getByRole('button', { name: 'Add Client' }).first().click()
  await page.getByLabel(label('Name')).fill('workshop')
  await page.keyboard.press('Enter')
  const ready = page.getByRole('dialog', { name: 'Your Node is Ready' })
  await ready.getByText('Waiting for workshop…').waitFor()
  await expect(ready.getByRole('button', { name: 'Expose a service' })).toHaveCount(0)
  const nodes = (await site.api.call('GET', '/api/nodes?search=workshop')).json as Node[]
  const [node] = nodes
  if (!node) throw new Error('The node was not created')
  edge.sendPeers([onlinePeer(node.id)])
  await ready.getByText('Connected from 203.0.113.7').waitFor()
  await expect(ready.locator('.lucide-circle-check')).toHaveCount(1)
  await expect(ready.getByText('Waiting for workshop…')).toHaveCount(0)
  await visit.expectAccessible()
  await ready.getByRole('button', { name: 'Expose a service' }).click()
  const form = page.getByRole('dialog', { name: 'Expose HTTP Service on Node' })
  await expect(form.getByLabel('Node Name')).toHaveValue('workshop')
})

it('shows every error under its field, also inside the rows of a gateway, and loses nothing', async () => {
  const visit = await site.open('/nodes')
  const { page } = visit
  visit.forgive(/422|The form was not saved/)
  await page.getByRole('button', { name: 'Add Client' }).first().click()
  const form = page.getByRole('dialog', { name: 'Client / Node Configuration' })
  await form.getByLabel('Act as a network gateway').check()
  await expect(form.getByRole('textbox', { name: 'Interface' }).first()).toHaveValue('eth0')
  await form.getByRole('textbox', { name: 'Subnet' }).first().fill('10.64.0.0/24')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('This field is required').waitFor()
  await form.getByLabel(label('Name')).fill('overlapping')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.locator('[aria-invalid="true"]').first().waitFor()
  const subnet = form.getByRole('textbox', { name: 'Subnet' }).first()
  await expect(subnet).toHaveAttribute('aria-invalid', 'true')
  await expect(subnet).toHaveValue('10.64.0.0/24')
  await visit.expectAccessible()
})
