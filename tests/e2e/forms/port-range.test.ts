import type { CreatedNode } from '@postern/contract/nodes'
import { shared } from '@postern/testkit/shared'
import { beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose, rowOf } from '../steps.ts'

const FORM = 'Expose TCP Service on Node'
const FULL = 'All tcp ports from 32660 to 32661 are taken: delete a service, or widen POSTERN_PORT_RANGE'

let gateway: CreatedNode

const site = shared(() => startSite({ POSTERN_PORT_RANGE: '32660-32661' }))
beforeAll(async () => {
  const gatewayNetworks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  gateway = await site.api.createNode({ name: 'branch', isGateway: true, gatewayNetworks })
})

it('a full range says so under the port, and a disabled service keeps its own', async () => {
  const [first, second] = [await publish('first'), await publish('second')]
  await site.api.setEnabled(first, false)
  const { visit, page, form } = await openForm()
  visit.forgive(/409|The form was not saved/)
  await form.getByLabel(label('Service Name')).fill('third')
  await form.getByLabel(label('Backend Hostname/IP')).fill('192.168.7.3')
  await form.getByLabel(label('Backend Port')).fill('')
  await form.getByText('tcp://192.168.7.3:…').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('This field is required').waitFor()
  await form.getByLabel(label('Backend Port')).fill('1883')
  await form.getByText('tcp://192.168.7.3:1883').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  const port = form.getByLabel('Public Port (Optional)')
  await expect(port).toHaveAccessibleDescription(FULL)
  await expect(port).toHaveAttribute('aria-invalid', 'true')
  await visit.expectAccessible()
  await site.api.removeService(second)
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('link', { name: 'tcp://203.0.113.1:32661' }).first().waitFor()
  await page.getByRole('button', { name: 'Got it!' }).click()
  await rowOf(page, 'third').getByText('Proxy -> 192.168.7.3:1883').waitFor()
  await choose(page, 'Actions for first', 'Enable Access')
  await page.getByRole('button', { name: 'Yes, enable it!' }).click()
  await rowOf(page, 'first').getByRole('link', { name: 'tcp://203.0.113.1:32660' }).waitFor()
})

it('the preview names no host of a gateway until a person does', async () => {
  const { form } = await openForm()
  await form.getByText('tcp://…:1883', { exact: true }).waitFor()
  await form.getByLabel(label('Backend Hostname/IP')).fill('nas.lan')
  await form.getByText('tcp://nas.lan:1883', { exact: true }).waitFor()
})

const publish = (name: string) =>
  site.api.publishPort(gateway.id, { name, backendHost: '192.168.7.2', backendPort: 1883 })

async function openForm() {
  const visit = await site.open(`/nodes/${gateway.id}`)
  const { page } = visit
  const card = page.getByRole('region', { name: 'TCP Services' })
  await card.getByRole('button', { name: 'Add Service' }).first().click()
  const form = page.getByRole('dialog', { name: FORM })
  await form.waitFor()
  return { visit, page, form }
}
