import { shared } from '@postern/testkit/shared'
import type { Locator, Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, expectFocus } from '../steps.ts'

const site = shared(() => startSite())

it('starts simple with its defaults; advanced shows DNS and keepalive', async () => {
  const { page } = await site.open('/nodes')
  await page.getByRole('button', { name: 'Add Client' }).click()
  const form = formOf(page)
  await form.getByText('Set up a network client or gateway').waitFor()
  // A field that was only passed through is not red.
  await form.getByLabel(label('Name')).focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await expect(form.locator('[aria-invalid]')).toHaveCount(0)
  await expect(form.getByLabel(label('Address'))).toHaveCount(0)
  await expect(form.getByLabel('DNS (optional)')).toHaveCount(0)
  await expect(form.getByLabel('Act as a network gateway')).not.toBeChecked()
  await expect(form.getByLabel('Send all internet traffic through the VPN')).not.toBeChecked()
  await expect(form.getByLabel('Agent May Publish Services')).not.toBeChecked()
  await expect(form.getByRole('checkbox').last()).toHaveAccessibleName(/^Send all internet traffic/)
  await form.getByLabel('Agent May Publish Services').check()
  await form.getByRole('button', { name: 'Advanced' }).click()
  await expect(form.getByLabel('DNS (optional)')).toHaveValue('')
  await expect(form.getByLabel('Persistence Keepalive')).toHaveValue('25')
  await form.getByLabel('DNS (optional)').fill('not an address')
  await form.getByRole('button', { name: 'Simple' }).click()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Enter IP addresses, separated by commas or spaces.').waitFor()
  await form.getByLabel('DNS (optional)').fill('9.9.9.9, 1.1.1.1')
  await form.getByLabel(label('Name')).fill('advanced one')
  await form.getByRole('button', { name: 'Advanced' }).click()
  await page.keyboard.press('Tab')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Got it!' }).click()
  await choose(page, 'Actions for advanced one', 'Edit Node')
  await page.getByRole('dialog', { name: 'Client / Node Configuration: advanced one' }).waitFor()
  await expect(form.getByLabel('DNS (optional)')).toHaveValue('9.9.9.9, 1.1.1.1')
  await expect(form.getByLabel(label('Address'))).toHaveValue(/^10\.64\.0\.\d+$/)
  await expect(form.getByLabel('Agent May Publish Services')).toBeChecked()
})

it('numbers the interfaces of a gateway, and keeps at least one', async () => {
  const { page } = await site.open('/nodes')
  await page.getByRole('button', { name: 'Add Client' }).click()
  const form = formOf(page)
  await form.getByLabel('Act as a network gateway').check()
  await expect.poll(() => interfaces(form)).toEqual(['eth0'])
  await expect(form.getByLabel('Subnet 1')).toHaveValue('')
  await expect(form.getByRole('button', { name: /^Remove/ })).toHaveCount(0)
  await expect(form.getByRole('button', { name: 'Add Interface' })).toHaveCount(0)
  await form.getByRole('button', { name: 'Advanced' }).click()
  await form.getByRole('button', { name: 'Add Interface' }).click()
  await form.getByRole('button', { name: 'Add Interface' }).click()
  await expect.poll(() => interfaces(form)).toEqual(['eth0', 'eth1', 'eth2'])
  await expectFocus(form.getByLabel('Interface 3'))
  await form.getByRole('button', { name: 'Remove eth1' }).click()
  await expect.poll(() => interfaces(form)).toEqual(['eth0', 'eth2'])
  await form.getByRole('button', { name: 'Remove eth2' }).click()
  await expect(form.getByRole('button', { name: /^Remove/ })).toHaveCount(0)

  // A row's error disappears with the row.
  await form.getByLabel('Subnet 1').fill('192.168.1.1')
  await form.getByLabel(label('Name')).click()
  await form.getByText('Enter a network with its prefix length').waitFor()
  await form.getByLabel('Act as a network gateway').uncheck()
  await expect(form.getByText('Enter a network')).toHaveCount(0)
  await form.getByLabel('Act as a network gateway').check()
  await expect.poll(() => interfaces(form)).toEqual(['eth0'])
})

it('shows at the rows why networks that services use cannot be removed', async () => {
  const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  const node = await site.api.createNode({ name: 'office', isGateway: true, gatewayNetworks })
  const backend = { backendHost: '192.168.7.12', pathLocation: '/printer' }
  await site.api.publish(node.id, { name: 'the printer', ...backend })
  const visit = await site.open(`/nodes/${node.id}`)
  const { page } = visit
  visit.forgive(/409|The form was not saved/)
  await choose(page, 'Actions', 'Edit Node')
  const form = formOf(page)
  await form.getByLabel('Subnet 1').fill('192.168.8.0/24')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText(/the printer/).waitFor()
  await form.getByLabel('Act as a network gateway').uncheck()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText(/the printer/).waitFor()
  await visit.expectAccessible()
  expect((await site.api.getNode(node.id)).isGateway).toBe(true)
})

it('clears the host bits of a subnet and shows the result', async () => {
  const { page } = await site.open('/nodes')
  await page.getByRole('button', { name: 'Add Client' }).click()
  const form = formOf(page)
  await form.getByLabel(label('Name')).fill('cut')
  await form.getByLabel('Act as a network gateway').check()
  await form.getByLabel('Subnet 1').fill('192.168.9.77/24')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Got it!' }).click()
  await page.getByRole('link', { name: 'cut' }).click()
  await page.getByText('eth0: 192.168.9.0/24').first().waitFor()
})

function formOf(page: Page): Locator {
  return page.getByRole('dialog', { name: 'Client / Node Configuration' })
}

function interfaces(form: Locator): Promise<string[]> {
  return form
    .getByLabel(/^Interface \d+$/)
    .evaluateAll((all) => all.map((input) => (input as HTMLInputElement).value))
}
