import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, expect as expectValue, it } from 'vitest'
import { putCertificate } from '../certificates.ts'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'

let page: Page
let nodeId: number
const LINKS = {
  POSTERN_REPOSITORY_URL: 'https://git.example.com/postern',
  POSTERN_SPONSOR_URL: 'https://sponsor.example.com/',
  POSTERN_CONTACT_URL: 'https://help.example.com/',
}

/** An installation from its first minute on, seen from its home page. */
const site = shared(() => startSite(LINKS))
const edge = shared(() => connectFakeEdge(site.paths))
const visit = shared(() => site.open('/'))
beforeAll(async () => {
  page = visit.page
})

const step = (title: string) =>
  page.getByRole('region', { name: 'First Steps' }).getByRole('listitem').filter({ hasText: title })
const expectTicked = (title: string, ticked: boolean) =>
  expect(step(title).getByText('(done)')).toHaveCount(ticked ? 1 : 0)
const tile = (title: string) =>
  page.getByRole('region', { name: 'Overview' }).locator('.sum').filter({ hasText: title })
const attention = () => page.getByRole('region', { name: 'Needs Attention' })
const changes = () => page.getByRole('region', { name: 'Recent Changes' }).getByRole('listitem')

it('guides a person from nothing to the first service, and ticks off what the server sees', async () => {
  await step('Give the server a name').getByText('203.0.113.1').waitFor()
  await page.getByRole('list', { name: 'How a request travels' }).waitFor()
  await expectTicked('Create a node', false)
  await page.getByRole('button', { name: 'Create your first node' }).click()
  await page.getByLabel(label('Name')).fill('workshop')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Got it!' }).click()
  await page.waitForURL(`${site.origin}/nodes`)
  await page.goBack()
  await expectTicked('Create a node', true)
  await expectTicked('Connect it', false)
  await expect(page.getByRole('list', { name: 'How a request travels' })).toHaveCount(0)
  await expect(tile('Nodes')).toHaveText('Nodes0 online1 never connected')
  // Certificates are not mentioned while there are none.
  await expect(tile('Certificates')).toHaveText('Certificates0 valid')

  const changed = (await site.api.call('GET', '/api/nodes?type=nodes')).json as { id: number }[]
  nodeId = changed[0]?.id ?? 0
  edge.sendPeers([onlinePeer(nodeId)])
  await expectTicked('Connect it', true)
  await expectTicked('Publish a service', false)

  await edge.pause(true)
  await site.api.publish(nodeId, { name: 'wiki', domain: 'wiki.example.com' })
  await expectTicked('Publish a service', true)
  await step('Open it in a browser').getByText('No service is live yet').waitFor()
  await edge.pause(false)
  await expect(page.getByRole('region', { name: 'First Steps' })).toHaveCount(0)
})

it('leads to every way to run a gateway, and to the help that the settings name', async () => {
  const linksOf = (card: string) =>
    page
      .getByRole('region', { name: card })
      .getByRole('link')
      .evaluateAll((all) =>
        all.map((link) => [link.querySelector('b')?.textContent, link.getAttribute('href')]),
      )
  const gateways = await linksOf('Gateway Deployments')
  expectValue(gateways).toEqual([
    ['Docker', '/docs/docker'],
    ['Kubernetes', '/docs/kubernetes'],
    ['Home Assistant', '/docs/home-assistant'],
  ])
  for (const [, path] of gateways) expectValue((await fetch(`${site.origin}${path}`)).status).toBe(200)
  expectValue(await linksOf('Help')).toEqual([
    ['Documentation', '/docs'],
    ['The CLI', '/docs/cli'],
    ['Contact us', LINKS.POSTERN_CONTACT_URL],
    ['Star the repository', LINKS.POSTERN_REPOSITORY_URL],
    ['Sponsor', LINKS.POSTERN_SPONSOR_URL],
  ])
})

it('afterwards says what matters, and updates on its own', async () => {
  await expect(tile('Nodes')).toHaveText('Nodes1 online')
  await expect(tile('Services')).toHaveText('Services1 live')
  await expect(tile('Certificates')).toHaveText('Certificates1 valid')
  await attention().getByText('Nothing needs your attention.').waitFor()
  // What needs attention and the last changes are stacked, without a gap.
  const [upper, lower] = await Promise.all(
    ['Needs Attention', 'Recent Changes'].map((name) => page.getByRole('region', { name }).boundingBox()),
  )
  expectValue(lower?.x).toBe(upper?.x)
  const gap = (lower?.y ?? 0) - (upper?.y ?? 0) - (upper?.height ?? 0)
  expectValue(gap).toBeGreaterThan(0)
  expectValue(gap).toBeLessThan(40)
  const service = await site.api.publish(nodeId, { name: 'shop', domain: 'shop.example.com' })
  const message = 'The name shop.lan cannot be resolved'
  await edge.setProblems([{ scope: { kind: 'service', id: service.id }, message }])
  await expect(tile('Services')).toHaveText('Services1 live1 failed')
  await expect(attention().getByRole('listitem')).toHaveText([`shop on workshop${message}`])
  await attention().getByRole('link', { name: 'shop' }).click()
  await page.getByRole('heading', { name: 'workshop' }).waitFor()
  await page.goBack()
  await edge.setProblems([])
  await attention().getByText('Nothing needs your attention.').waitFor()
  edge.sendPeers([{ ...onlinePeer(nodeId), latestHandshake: Date.now() - 600_000 }])
  await expect(tile('Services')).toHaveText('Services0 live2 with their node offline')
  await expect(attention().getByRole('listitem')).toHaveText([
    'workshop was last seen 10 minutes agoIts 2 services are unreachable.',
  ])
  // The sidebar counts what Home lists, including what no edge reports.
  const mark = page.getByRole('link', { name: '1 problem', exact: true })
  await expect(mark).toHaveAttribute('href', '/nodes/attention')
  await mark.hover()
  await page.locator('.tooltip').getByText('workshop: Its 2 services are unreachable.').waitFor()
  edge.sendPeers([onlinePeer(nodeId)])
  await attention().getByText('Nothing needs your attention.').waitFor()
  await expect(tile('Services')).toHaveText('Services2 live')
  await expect(mark).toHaveCount(0)
})

it('leads from the number of problems to the names of all of them', async () => {
  const services = (await site.api.call('GET', `/api/services/${nodeId}/http?search=shop`)).json as {
    id: number
  }[]
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const own = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({
    scope: { kind: 'edge' as const },
    message: `The part ${name} is broken`,
  }))
  const message = 'The name shop.lan cannot be resolved'
  await edge.setProblems([{ scope: { kind: 'service', id: services[0]?.id ?? 0 }, message }, ...own])
  await expect(attention().getByRole('heading')).toHaveText('Needs Attention 7')
  await expect(attention().getByRole('listitem')).toHaveCount(6)
  await attention().getByRole('link', { name: 'and 2 more' }).waitFor()
  const failed = tile('Services').getByRole('link', { name: '1 failed' })
  await expect(failed).toHaveAttribute('href', '/services?state=failed')
  // A page's first data is requested once.
  await page.goto(`${site.origin}/nodes`)
  const problems = page.getByRole('link', { name: '7 problems', exact: true })
  await problems.waitFor()
  asked.length = 0
  await page.reload()
  await problems.waitFor()
  expectValue(asked.filter((path) => path === '/api/edges')).toHaveLength(1)
  await problems.click()
  const table = page.getByRole('table', { name: 'Needs Attention' })
  await expect(table.getByRole('row')).toHaveCount(8)
  await visit.expectAccessible()
  await page.getByRole('button', { name: 'Services' }).click()
  await expect(table.getByRole('row')).toHaveCount(2)
  await table.getByRole('link', { name: 'shop' }).click()
  await page.waitForURL(`${site.origin}/nodes/${nodeId}?http.search=shop`)
  await page.getByText(message).waitFor()
  await edge.setProblems([])
  await page.goto(site.origin)
  await attention().getByText('Nothing needs your attention.').waitFor()
})

it('names the certificates that a failing renewal will miss', async () => {
  const domains = (await site.api.call('GET', '/api/domains?search=wiki')).json as { id: number }[]
  await putCertificate(site, domains[0]?.id ?? 0, {
    endsIn: 5,
    problem: { code: 'caa', detail: 'CAA forbids it' },
  })
  await page.goto(site.origin)
  await expect(tile('Certificates')).toHaveText('Certificates2 valid1 expiring soon')
  await attention().getByText('CAA forbids it').waitFor()
})

it('warns of a certificate when only time has brought its expiry near', async () => {
  const { id } = await site.api.createDomain({ domain: 'lapse.example.com' })
  await page.goto(`${site.origin}/nodes/attention`)
  await page.getByRole('heading', { name: 'Needs Attention' }).waitFor()
  await putCertificate(site, id, {
    endsIn: 14 + 6 / 86_400,
    problem: { code: 'caa', detail: 'CAA forbids it' },
  })
  await page.reload()
  await page.getByText(/certificates? expires? soon/).waitFor()
  // Nothing else changes, and only the page itself asks.
  await page.getByText('2 certificates expire soon').waitFor()
  await page.getByRole('row', { name: 'lapse.example.com' }).waitFor()
  await page.goto(site.origin)
  await expect(tile('Certificates')).toHaveText('Certificates3 valid2 expiring soon')
  await site.api.call('DELETE', `/api/domains/${id}`)
})

it('lists the last changes by subject, and links to it', async () => {
  const { id } = await site.api.createDomain({ domain: 'brandnew.example.com' })
  await page.goto(site.origin)
  await expect(changes().first()).toHaveText(/^brandnew\.example\.com domain createdadmin, /)
  const lines = await changes().allTextContents()
  expectValue(lines.some((line) => line.startsWith('shop service created'))).toBe(true)
  expectValue(lines.some((line) => line.startsWith('workshop node created'))).toBe(true)
  await changes().first().getByRole('link').click()
  await page.waitForURL(`${site.origin}/domains?search=brandnew.example.com`)
  await page.goBack()
  await site.api.call('DELETE', `/api/domains/${id}`)
  await expect(changes().first()).toHaveText(/^brandnew\.example\.com domain deleted/)
  await expect(changes().first().getByRole('link')).toHaveCount(0)
})
