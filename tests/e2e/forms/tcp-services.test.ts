import { shared } from '@postern/testkit/shared'
import type { Locator } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label } from '../harness.ts'
import { rowOf } from '../steps.ts'
import { cardOf, FORM, INFO, startTcpSite } from '../tcp-site.ts'

const lab = shared(startTcpSite)

it('has the specified labels, defaults and hints', async () => {
  const { visit, form } = await openForm()
  await form.getByText('Publish any TCP or UDP program of this node on a public port.').waitFor()
  await expect(form.getByLabel(label('Node Name'))).toHaveValue('office')
  await expect(form.getByLabel(label('Node Name'))).not.toBeEditable()
  await expect(form.getByLabel(label('Service Name'))).toHaveValue('')
  await expect(form.getByLabel('Public Domain (Optional)')).toHaveValue('')
  const port = form.getByLabel('Public Port (Optional)')
  await expect(port).toHaveValue('')
  await expect(port).toHaveAttribute('placeholder', 'Assigned Automatically')
  await expect(port).toHaveAccessibleDescription('A free port from 32660 to 32669.')
  const protocol = form.getByLabel(label('Protocol'))
  await expect(protocol).toHaveValue('tcp')
  await expect(protocol.getByRole('option')).toHaveText(['tcp://', 'udp://'])
  await expect(form.getByLabel(label('Backend Hostname/IP'))).toBeDisabled()
  await expect(form.getByLabel(label('Backend Port'))).toHaveValue('1883')
  await expect(form.getByLabel(label('Backend Port'))).toHaveAttribute('placeholder', '1883')
  for (const name of ['Allowed IPs', 'Blocked IPs']) await expect(form.getByText(name).first()).toBeVisible()
  await form.getByText('tcp://203.0.113.1:assigned').waitFor()
  await visit.expectAccessible()
})

it('says where the program must listen if the node uses a WireGuard file, which has no CLI', async () => {
  const words = /The program must listen on 10\.64\.\d+\.\d+, because this node uses a WireGuard file\.$/
  const host = label('Backend Hostname/IP')
  const first = await openForm()
  await expect(first.form.getByLabel(host)).toHaveAccessibleDescription(/^This node can only expose its own/)
  await expect(first.form.getByText(words)).toHaveCount(0)
  const filed = await lab.site.api.createNode({ name: 'filed' })
  await lab.site.api.call('GET', `/api/nodes/${filed.id}/download`)
  const { visit, form } = await openForm(filed.id)
  await expect(form.getByLabel(host)).toHaveAccessibleDescription(words)
  await expect(form.getByText(filed.address).last()).toBeVisible()
  await visit.expectAccessible()
})

it('explains SSL termination, which UDP does not have', async () => {
  const { form } = await openForm()
  const ssl = form.getByLabel('Enable SSL Termination')
  await expect(ssl).not.toBeChecked()
  await form.getByText('Client-to-proxy TLS only; backend traffic stays unencrypted.').waitFor()
  await form.getByText('Not for PostgreSQL, STARTTLS').waitFor()
  await ssl.check()
  await form.getByText("Without a domain it uses this installation's own certificate.").waitFor()
  await form.getByLabel('Public Domain (Optional)').fill('mqtt.example.com')
  await expect(form.getByText("installation's own certificate")).toHaveCount(0)
  await form.getByLabel(label('Protocol')).selectOption('udp://')
  await expect(ssl).not.toBeChecked()
  await expect(ssl).toBeDisabled()
  await form.getByText('Not available over UDP, which has no TLS here.').waitFor()
  await form.getByLabel(label('Protocol')).selectOption('tcp://')
  await expect(ssl).toBeEnabled()
  await expect(ssl).not.toBeChecked()
})

it('goes from the form to the info dialog to a live row, with the lowest free port', async () => {
  const { visit, page, form } = await openForm()
  visit.forgive(/422|The form was not saved/)
  await form.getByLabel(label('Service Name')).fill('mqtt')
  await form.getByLabel('Enable SSL Termination').check()
  await form.getByRole('button', { name: 'Save' }).click()
  // Without a domain, it is at the console's own address.
  await form.getByText(/browsers send its cookies to this port too/).waitFor()
  await form.getByLabel('Trust With Sign-In Cookies').check()
  await form.getByRole('button', { name: 'Save' }).click()
  const info = page.getByRole('dialog', { name: INFO })
  await info.getByText('mqtt', { exact: true }).waitFor()
  await info.getByText('SSL', { exact: true }).waitFor()
  await info.getByText('Self-signed: programs refuse it until they').waitFor()
  await info.getByRole('link', { name: 'tcp://203.0.113.1:32660' }).waitFor()
  await info.getByText('tcp://localhost:1883').waitFor()
  await info.getByText('No restrictions').waitFor()
  await info.getByText('None', { exact: true }).waitFor()
  await visit.expectAccessible()
  await info.getByRole('button', { name: 'Got it!' }).click()
  const row = rowOf(page, 'mqtt')
  await row.getByText('Live').waitFor()
  await row.getByRole('link', { name: 'tcp://203.0.113.1:32660' }).waitFor()
  await row.getByText('Proxy -> tcp://localhost:1883').waitFor()
  await visit.expectAccessible()
  expect(lab.edge.state()?.sections.ports).toMatchObject([
    {
      proto: 'tcp',
      port: 32660,
      tls: { domain: null },
      backend: { host: null, port: 1883 },
      enabled: true,
    },
  ])
})

it('shows a UDP service of a gateway with its domain, its backend and its lists', async () => {
  await lab.site.api.createDomain({ domain: 'dns.example.com' })
  const { page, form } = await openForm(lab.gateway.id)
  await form.getByLabel(label('Service Name')).fill('dns')
  await form.getByLabel('Public Domain (Optional)').fill('dns.example.com')
  await form.getByLabel('Public Port (Optional)').fill('32669')
  await form.getByLabel(label('Protocol')).selectOption('udp://')
  await form.getByLabel(label('Backend Port')).fill('53')
  await form.getByRole('button', { name: 'Save' }).click()
  await expectError(form.getByLabel(label('Backend Hostname/IP')), 'This field is required')
  await form.getByLabel(label('Backend Hostname/IP')).fill('192.168.7.1')
  for (const [list, address] of Object.entries({ Allowed: '198.51.100.0/24', Blocked: '198.51.100.66' })) {
    await form
      .getByRole('group', { name: `${list} IPs` })
      .getByRole('button', { name: 'Add IP' })
      .click()
    await form.getByRole('textbox', { name: `${list} IP 1` }).fill(address)
  }
  await form.getByText('udp://dns.example.com:32669').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  const info = page.getByRole('dialog', { name: INFO })
  await info.getByRole('link', { name: 'udp://dns.example.com:32669' }).waitFor()
  await expect(info.getByText('SSL', { exact: true })).toHaveCount(0)
  for (const text of ['udp://192.168.7.1:53', '198.51.100.0/24', '198.51.100.66'])
    await info.getByText(text, { exact: true }).waitFor()
  await info.getByRole('button', { name: 'Got it!' }).click()
  await rowOf(page, 'dns').getByText('Proxy -> 192.168.7.1:53').waitFor()
  const [dns] = (lab.edge.state()?.sections.ports ?? []).filter(({ proto }) => proto === 'udp')
  await lab.edge.setPorts({ ipv4Only: [dns?.id ?? 0], ipv6Only: [], held: { tcp: [], udp: [] } })
  await rowOf(page, 'dns').getByText('IPv4 only: the backend has no IPv6 address').waitFor()
})

it('says under each field what is wrong with it, all at once', async () => {
  const { visit, form } = await openForm()
  await form.getByLabel('Public Domain (Optional)').fill('not a domain')
  await form.getByLabel('Public Port (Optional)').fill('70000')
  await form.getByLabel(label('Backend Port')).fill('0')
  await form.getByRole('group', { name: 'Allowed IPs' }).getByRole('button', { name: 'Add IP' }).click()
  await form.getByRole('textbox', { name: 'Allowed IP 1' }).fill('300.1.1.1')
  await form.getByRole('button', { name: 'Save' }).click()
  await expectError(form.getByLabel(label('Service Name')), 'This field is required')
  await expectError(form.getByLabel('Public Domain (Optional)'), 'The domain must be in a valid format')
  for (const field of [form.getByLabel('Public Port (Optional)'), form.getByLabel(label('Backend Port'))])
    await expectError(field, 'Enter a port from 1 to 65535.')
  await expectError(form.getByRole('textbox', { name: 'Allowed IP 1' }), /Enter an IP address or network/)
  await visit.expectAccessible()
  visit.forgive(/Validation failed/)
})

it('shows under its field that a port is taken or outside the range, and keeps what was typed', async () => {
  const held = await lab.site.api.publishPort(lab.gateway.id, {
    name: 'held',
    port: 32668,
    backendHost: '192.168.7.2',
    backendPort: 1883,
  })
  const { visit, page, form } = await openForm()
  visit.forgive(/409|422|The form was not saved/)
  await form.getByLabel(label('Service Name')).fill('late')
  const port = form.getByLabel('Public Port (Optional)')
  const save = form.getByRole('button', { name: 'Save' })
  await port.fill('32668')
  await save.click()
  await expectError(port, 'tcp port 32668 already belongs to “held”')
  await visit.expectAccessible()
  await port.fill('8080')
  await form.getByLabel('Public Domain (Optional)').fill('nowhere.example.com')
  await page.keyboard.press('Tab')
  await save.click()
  await expectError(port, 'must be a port from 32660 to 32669')
  // The name does not resolve on this machine.
  await expectError(form.getByLabel('Public Domain (Optional)'), /nowhere\.example\.com/)
  await form.getByLabel('Skip Domain Validation').check()
  await port.fill('32668')
  await save.click()
  await expectError(port, 'tcp port 32668 already belongs to “held”')
  // Over UDP, the same number is a different port.
  await form.getByLabel(label('Protocol')).selectOption('udp://')
  await expect(port).not.toHaveAttribute('aria-invalid')
  await expect(form.getByLabel(label('Service Name'))).toHaveValue('late')
  await save.click()
  await page.getByRole('dialog', { name: INFO }).getByText('udp://nowhere.example.com:32668').waitFor()
  await lab.site.api.removeService(held)
})

it('shows at its box why the server refuses SSL termination', async () => {
  const { visit, page, form } = await openForm()
  visit.forgive(/422|The form was not saved/)
  const errors = [{ field: 'ssl', message: 'UDP has no TLS' }]
  await page.route('**/api/services/*/tcp', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 422, json: { message: 'Validation failed', errors } })
      : route.continue(),
  )
  await form.getByLabel(label('Service Name')).fill('odd')
  await form.getByRole('button', { name: 'Save' }).click()
  await expectError(form.getByLabel('Enable SSL Termination'), 'UDP has no TLS')
})

async function openForm(nodeId = lab.node.id) {
  const visit = await lab.site.open(`/nodes/${nodeId}`)
  const { page } = visit
  await cardOf(page).getByRole('button', { name: 'Add Service' }).first().click()
  const form = page.getByRole('dialog', { name: FORM })
  await form.waitFor()
  return { visit, page, form }
}

/** The text under a field, which a screen reader reads with it. */
async function expectError(field: Locator, text: string | RegExp): Promise<void> {
  await expect(field).toHaveAttribute('aria-invalid', 'true')
  await expect(field).toHaveAccessibleDescription(text)
}
