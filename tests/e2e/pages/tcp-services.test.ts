import { shared } from '@postern/testkit/shared'
import { describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label } from '../harness.ts'
import { choose, menuItems, rowOf } from '../steps.ts'
import { cardOf, FORM, INFO, startTcpSite } from '../tcp-site.ts'

const MENU = [
  'Info',
  'Logs Monitor',
  'Why?',
  'Requests',
  'Traffic',
  'History',
  'Edit Service',
  'Mute Alerts',
  'Disable Access',
  'Delete Service',
]

const lab = shared(startTcpSite)

describe('the card of TCP services', () => {
  it('says when it is empty, then shows five at a time, and searches and sorts', async () => {
    const many = await lab.site.api.createNode({ name: 'many' })
    const visit = await lab.site.open(`/nodes/${many.id}`)
    const { page } = visit
    const card = cardOf(page)
    await card.getByText('No TCP services yet').waitFor()
    await expect(card.getByRole('button', { name: 'Add Service' })).toHaveCount(2)
    await expect(card.getByRole('searchbox')).toHaveCount(0)
    const services = []
    for (const name of ['f', 'b', 'e', 'a', 'd', 'c'])
      services.push(
        await lab.site.api.publishPort(many.id, { name: `port-${name}`, proto: 'udp', backendPort: 1883 }),
      )
    await card.getByText('Showing 1 to 5 of 6 results').waitFor()
    await expect(card.locator('tbody tr')).toHaveCount(5)
    await card.getByRole('button', { name: 'Next' }).click()
    await rowOf(page, 'port-c').waitFor()
    await expect(page).toHaveURL(/tcp\.page=2/)
    await card.getByRole('button', { name: 'Name' }).click()
    await expect(card.locator('tbody b')).toHaveText(['port-a', 'port-b', 'port-c', 'port-d', 'port-e'])
    await card.getByRole('searchbox', { name: 'Search TCP services' }).fill('PORT-F')
    await expect(card.locator('tbody b')).toHaveText(['port-f'])
    await page.reload()
    await expect(card.locator('tbody b')).toHaveText(['port-f'])
    await card.getByRole('searchbox').fill('nothing')
    await card.getByText('No TCP services on this node match.').waitFor()
    await visit.expectAccessible()
    for (const service of services) await lab.site.api.removeService(service)
  })

  it('edits, disables, enables and deletes', async () => {
    const service = await lab.site.api.publishPort(lab.node.id, {
      name: 'acted',
      port: 32667,
      ...{ ssl: true, confirmSharedCookies: true },
      backendPort: 1883,
    })
    const { page } = await lab.site.open(`/nodes/${lab.node.id}`)
    const row = rowOf(page, 'acted')
    await row.getByText('TLS ends at the proxy').waitFor({ state: 'attached' })
    await row.getByRole('button', { name: 'Actions for acted' }).click()
    expect(await menuItems(page)).toEqual(MENU)
    await page.getByRole('menuitem', { name: 'Edit Service' }).click()
    const form = page.getByRole('dialog', { name: 'Edit TCP Service: acted' })
    await expect(form.getByLabel('Public Port (Optional)')).toHaveValue('32667')
    await expect(form.getByLabel('Enable SSL Termination')).toBeChecked()
    // Left empty, it keeps its port.
    await form.getByLabel('Public Port (Optional)').fill('')
    await form.getByLabel(label('Backend Port')).fill('9999')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: INFO }).getByText('tcp://203.0.113.1:32667').waitFor()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await row.getByText('Proxy -> tcp://localhost:9999').waitFor()
    await choose(page, 'Actions for acted', 'Info')
    await page.getByRole('dialog', { name: INFO }).getByText('tcp://localhost:9999').waitFor()
    await page.getByRole('button', { name: 'Got it!' }).click()
    await choose(page, 'Actions for acted', 'Disable Access')
    await page.getByText(/are refused, and open ones end/).waitFor()
    await page.getByRole('button', { name: 'Yes, disable it!' }).click()
    await page.getByText('Service disabled from public access successfully!').waitFor()
    await row.getByText('tcp://203.0.113.1:32667').waitFor()
    await expect(row.getByRole('link')).toHaveText(['acted'])
    expect((await lab.site.api.getService(service)).enabled).toBe(false)
    await choose(page, 'Actions for acted', 'Enable Access')
    await page.getByRole('button', { name: 'Yes, enable it!' }).click()
    await row.getByRole('link', { name: 'tcp://203.0.113.1:32667' }).waitFor()
    await choose(page, 'Actions for acted', 'Delete Service')
    await page.getByRole('button', { name: 'Yes, delete it!' }).click()
    await page.getByText('Service deleted successfully!').waitFor()
    await row.waitFor({ state: 'detached' })
  })
})

it('nodes expose TCP services, the local one included', async () => {
  const { page } = await lab.site.open('/nodes')
  for (const name of ['office', 'Local']) {
    await choose(page, `Actions for ${name}`, 'Expose TCP')
    const form = page.getByRole('dialog', { name: FORM })
    await expect(form.getByLabel(label('Node Name'))).toHaveValue(name)
    await expect(form.getByLabel(label('Backend Hostname/IP'))).toBeEnabled({ enabled: name === 'Local' })
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
  }
})

it('an expanded domain shows both kinds of its services with two requests', async () => {
  await lab.site.api.createDomain({ domain: 'empty.shop.test' })
  const form = { name: 'broker', domain: 'full.shop.test', port: 32665 }
  await lab.site.api.publishPort(lab.gateway.id, { ...form, backendHost: '192.168.7.20', backendPort: 1883 })
  await lab.site.api.publish(lab.node.id, { name: 'shop', domain: 'full.shop.test' })
  const visit = await lab.site.open('/domains?search=shop.test')
  const { page } = visit
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (/^\/api\/(services|nodes)\b/.test(pathname)) asked.push(pathname)
  })
  await page.getByRole('button', { name: 'Services of empty.shop.test' }).click()
  for (const type of ['HTTP', 'TCP'])
    await page
      .getByRole('region', { name: `${type} Services of empty.shop.test` })
      .getByText(`No ${type} services yet. Expose the first one from Client / Nodes.`)
      .waitFor()
  // A hint of what was just published may have them read again.
  expect([...new Set(asked)].toSorted()).toEqual(['/api/services/http', '/api/services/tcp'])
  await page.getByRole('button', { name: 'Services of full.shop.test' }).click()
  const ports = page.getByRole('region', { name: 'TCP Services of full.shop.test' })
  await ports.getByRole('link', { name: 'tcp://full.shop.test:32665' }).waitFor()
  await ports.getByText('Proxy -> 192.168.7.20:1883').waitFor()
  await ports.getByRole('link', { name: 'branch' }).waitFor()
  await page
    .getByRole('region', { name: 'HTTP Services of full.shop.test' })
    .getByText('shop')
    .first()
    .waitFor()
  expect(new Set(asked)).toEqual(new Set(['/api/services/http', '/api/services/tcp']))
  await visit.expectAccessible()
  await ports.getByRole('button', { name: 'Actions for broker' }).click()
  expect(await menuItems(page)).toEqual(MENU.with(MENU.indexOf('Edit Service'), 'Go to node'))
  await page.getByRole('menuitem', { name: 'Go to node' }).click()
  await expect(page).toHaveURL(`${lab.site.origin}/nodes/${lab.gateway.id}`)
})
