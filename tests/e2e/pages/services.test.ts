import type { Service } from '@postern/contract/services/services'
import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import type { Page } from 'playwright'
import { beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { choose, rowOf } from '../steps.ts'

let office: number
let site7: number
const made: Record<string, Service> = {}
const idOf = (name: string) => made[name]?.id ?? 0

const site = shared(() => startSite())
const edge = shared(() => connectFakeEdge(site.paths))
beforeAll(async () => {
  const { api } = site
  const networks = [{ interface: 'eth0', subnet: '192.168.7.0/24' }]
  office = (await api.createNode({ name: 'office', isGateway: true, gatewayNetworks: networks })).id
  site7 = (await api.createNode({ name: 'site-07' })).id
  for (const [name, host, port] of [
    ['grafana', '192.168.7.31', 3000],
    ['wiki', '192.168.7.40', 8080],
  ] as const)
    made[name] = await api.publish(office, {
      ...{ name, domain: `${name}.example.com`, backendHost: host, backendPort: port },
    })
  made.mqtt = await api.publishPort(office, { name: 'mqtt', backendHost: '192.168.7.20', backendPort: 1883 })
  made.game = await api.publishPort(office, {
    ...{ name: 'game', proto: 'udp', backendHost: '192.168.7.21', backendPort: 27_015 },
  })
  made.shop = await api.publish(site7, { name: 'shop', domain: 'shop.example.com' })
  made.blog = await api.publish(site7, { name: 'blog', domain: 'shop.example.com', pathLocation: '/blog' })
  await api.setEnabled(made.blog, false)
  edge.sendPeers([onlinePeer(office), { ...onlinePeer(site7), latestHandshake: Date.now() - 900_000 }])
  const message = 'The name wiki.lan cannot be resolved'
  await edge.setProblems([{ scope: { kind: 'service', id: idOf('wiki') }, message }])
  edge.sendCounts([[idOf('grafana'), 3, 1024, 1023 * 1024]])
  await until('the figures to be stored', async () => {
    const { json } = await api.call('GET', `/api/figures/services?ids=${idOf('grafana')}`)
    return (json as { data: { sent: number }[] }).data[0]?.sent === 1023 * 1024
  })
})

const names = (page: Page) => page.locator('.svc b')
const state = (page: Page) => page.getByLabel('State', { exact: true })

describe('the page of all services', () => {
  it('has its place below those of the specification, and every service with what matters of it', async () => {
    const visit = await site.open('/')
    const { page } = visit
    const pages = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
    await expect(pages).toHaveText([
      'Home',
      'Domain Names',
      'Client / Nodes',
      'Edges',
      'Services',
      'Requests',
      'Alerts',
      'History',
    ])
    await pages.getByText('Services').click()
    await page.getByRole('heading', { name: 'Services', exact: true }).waitFor()
    await expect(names(page)).toHaveText(['blog', 'game', 'grafana', 'mqtt', 'shop', 'wiki'])
    await expect(page.getByRole('columnheader')).toHaveText([
      ...['Name', 'Ingress Config', 'Node', 'Sign-in', 'Last 24 Hours', 'State', 'Actions'],
    ])
    const grafana = rowOf(page, 'grafana')
    await grafana.getByRole('link', { name: 'https://grafana.example.com/' }).waitFor()
    await grafana.getByText('Proxy -> 192.168.7.31:3000').waitFor()
    await expect(grafana.getByRole('link', { name: 'office' })).toHaveAttribute('href', `/nodes/${office}`)
    await grafana.getByText('1.00 MB').waitFor()
    await expect(grafana.locator('svg.spark polyline')).toHaveCount(1)
    await expect(rowOf(page, 'mqtt').locator('svg.spark')).toHaveCount(0)
    await rowOf(page, 'wiki').getByText('Failed').waitFor()
    await visit.expectAccessible()
  })

  it('is narrowed by what its address says, and a link or Back opens the same', async () => {
    const { page } = await site.open('/services')
    await names(page).first().waitFor()
    await page.getByRole('button', { name: 'UDP' }).click()
    await expect(names(page)).toHaveText(['game'])
    await page.getByRole('button', { name: 'View All' }).click()
    await state(page).selectOption('Failed')
    await expect(names(page)).toHaveText(['wiki'])
    await expect(page).toHaveURL(/\/services\?state=failed$/)
    await page.goBack()
    await expect(names(page)).toHaveCount(6)
    await page.getByRole('combobox', { name: 'Node' }).fill('site')
    await page.getByRole('option', { name: /^site-07/ }).click()
    await expect(names(page)).toHaveText(['blog', 'shop'])
    await expect(page).toHaveURL(new RegExp(`node=${site7}$`))
    await page.reload()
    await expect(page.getByRole('combobox', { name: 'Node' })).toHaveValue(/^site-07 \(/)
    await expect(names(page)).toHaveText(['blog', 'shop'])
    await page.getByRole('combobox', { name: 'Node' }).fill('')
    await expect(names(page)).toHaveCount(6)
    await page.getByRole('combobox', { name: 'Domain' }).fill('shop')
    await page.getByRole('option', { name: 'shop.example.com' }).click()
    await expect(page).toHaveURL(/domain=shop\.example\.com/)
    await expect(names(page)).toHaveText(['blog', 'shop'])
  })

  it('is searched by backend, address and node, and says when nothing fits', async () => {
    const { page } = await site.open('/services?search=192.168.7.31')
    await expect(names(page)).toHaveText(['grafana'])
    const search = page.getByRole('searchbox', { name: 'Search services' })
    for (const [text, found] of [
      ['27015', ['game']],
      ['shop.example.com/blog', ['blog']],
      ['site-07', ['blog', 'shop']],
    ] as const) {
      await search.fill(text)
      await expect(names(page)).toHaveText([...found])
    }
    await page.goto(`${site.origin}/services?search=27015&state=gone&kind=http`)
    await page.getByText('Nothing matches “27015”').waitFor()
    await expect(page).toHaveURL(/\/services\?search=27015&kind=http$/)
    await page.getByRole('button', { name: 'Clear search and filters' }).click()
    await expect(names(page)).toHaveCount(6)
    await page.getByRole('button', { name: 'Name' }).click()
    await page.getByRole('button', { name: 'Name' }).click()
    await expect(names(page).first()).toHaveText('wiki')
  })

  it('follows what happens elsewhere, edits a service, and leads to its node', async () => {
    const { page } = await site.open('/services?state=live')
    await expect(names(page)).toHaveText(['game', 'grafana', 'mqtt'])
    edge.sendTrouble(idOf('mqtt'), 'refused')
    await expect(names(page)).toHaveText(['game', 'grafana'])
    edge.sendTrouble(idOf('mqtt'), null)
    await expect(names(page)).toHaveText(['game', 'grafana', 'mqtt'])
    await choose(page, 'Actions for mqtt', 'Edit Service')
    await page
      .getByRole('dialog')
      .getByLabel(/^Service Name/)
      .fill('broker')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Got it!' }).click()
    // Without the filter, the row stays while its change is applied.
    await page.goto(`${site.origin}/services?search=broker`)
    await choose(page, 'Actions for broker', 'Go to node')
    await page.getByRole('heading', { name: 'office' }).waitFor()
  })

  it('fits a phone', async () => {
    const visit = await site.open('/services', { width: 390, height: 844 })
    const { page } = visit
    await names(page).first().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await visit.expectAccessible()
  })
})

describe('what counts services leads to just these', () => {
  it('the tiles of Home', async () => {
    const { page } = await site.open('/')
    const tiles = page.getByRole('region', { name: 'Overview' })
    for (const [text, rows] of [
      ['3 live', 3],
      ['1 failed', 1],
      ['1 with their node offline', 1],
      ['1 disabled', 1],
    ] as const) {
      await tiles.getByRole('link', { name: text, exact: true }).click()
      await page.waitForURL('**/services?state=*')
      await expect(names(page)).toHaveCount(rows)
      await page.goBack()
    }
    await tiles.getByRole('link', { name: 'Services', exact: true }).click()
    await expect(names(page)).toHaveCount(6)
  })

  it('a node in its list, a lost node in Needs Attention, and the palette', async () => {
    const { page } = await site.open('/nodes')
    await rowOf(page, 'office').getByRole('link', { name: '4', exact: true }).click()
    await expect(names(page)).toHaveCount(4)
    await page.goto(`${site.origin}/nodes/attention`)
    await page.getByRole('row').filter({ hasText: 'site-07' }).getByRole('link', { name: 'service' }).click()
    await page.waitForURL(`**/services?state=node-offline&node=${site7}`)
    await expect(names(page)).toHaveText(['shop'])
    for (const [typed, entry, found] of [
      ['failed', 'Failed Services', ['wiki']],
      ['site-07', 'All 2 services of site-07', ['blog', 'shop']],
    ] as const) {
      await page.keyboard.press('ControlOrMeta+K')
      await page
        .getByRole('combobox', { name: /search/i })
        .last()
        .fill(typed)
      await page.getByRole('option', { name: entry }).click()
      await expect(names(page)).toHaveText([...found])
    }
  })
})
