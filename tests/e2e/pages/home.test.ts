import { onlinePeer } from '@postern/testkit/edge-client'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fake-edge'
import type { Page } from 'playwright'
import { afterAll, beforeAll, expect as expectValue, it } from 'vitest'
import { putCertificate } from '../certificates.ts'
import { expect } from '../expect.ts'
import { label, type Site, startSite, type Visit } from '../harness.ts'

/** One installation from its first minute on, seen from its home page. */
let site: Site
let edge: FakeEdge
let visit: Visit
let page: Page
let nodeId: number
const LINKS = {
  POSTERN_REPOSITORY_URL: 'https://git.example.com/postern',
  POSTERN_SPONSOR_URL: 'https://sponsor.example.com/',
  POSTERN_CONTACT_URL: 'https://help.example.com/',
}

beforeAll(async () => {
  site = await startSite(LINKS)
  edge = await connectFakeEdge(site.paths)
  visit = await site.open('/')
  page = visit.page
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

const step = (title: string) =>
  page.getByRole('region', { name: 'First Steps' }).getByRole('listitem').filter({ hasText: title })
const expectTicked = (title: string, ticked: boolean) =>
  expect(step(title).getByText('(done)')).toHaveCount(ticked ? 1 : 0)
const tile = (title: string) =>
  page.getByRole('region', { name: 'Overview' }).getByRole('link').filter({ hasText: title })
const attention = () => page.getByRole('region', { name: 'Needs Attention' })
const changes = () => page.getByRole('region', { name: 'Recent Changes' }).getByRole('listitem')

it('leads by the hand from nothing to the first service, and ticks what the server sees', async () => {
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
  // Nothing is said of certificates that are not there.
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
  visit.expectNoComplaints()
})

it('leads to every way to run a gateway, and to help as the settings say', async () => {
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

it('says afterwards what matters, and turns by itself', async () => {
  await expect(tile('Nodes')).toHaveText('Nodes1 online')
  await expect(tile('Services')).toHaveText('Services1 live')
  await expect(tile('Certificates')).toHaveText('Certificates1 valid')
  await attention().getByText('Nothing needs your attention.').waitFor()
  // What needs a person and what was done stand one below the other, without a hole.
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
  // The sidebar counts what Home lists, also what no edge reports.
  const mark = page.getByRole('link', { name: '1 problem', exact: true })
  await expect(mark).toHaveAttribute('href', '/nodes/attention')
  await mark.hover()
  await page.locator('.tooltip').getByText('workshop: Its 2 services are unreachable.').waitFor()
  edge.sendPeers([onlinePeer(nodeId)])
  await attention().getByText('Nothing needs your attention.').waitFor()
  await expect(tile('Services')).toHaveText('Services2 live')
  await expect(mark).toHaveCount(0)
  visit.expectNoComplaints()
})

it('leads from how many problems there are to all of them by their names', async () => {
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
  await expect(tile('Services')).toHaveAttribute('href', '/nodes/attention?type=service')
  // What a page begins with is asked for once.
  await page.goto(`${site.origin}/nodes`)
  asked.length = 0
  await page.reload()
  const problems = page.getByRole('link', { name: '7 problems', exact: true })
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
  visit.expectNoComplaints()
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
  visit.expectNoComplaints()
})

it('warns of a certificate when time alone brings its end near', async () => {
  const { id } = await site.api.createDomain({ domain: 'lapse.example.com' })
  await page.goto(`${site.origin}/nodes/attention`)
  await page.getByRole('heading', { name: 'Needs Attention' }).waitFor()
  await putCertificate(site, id, {
    endsIn: 14 + 6 / 86_400,
    problem: { code: 'caa', detail: 'CAA forbids it' },
  })
  await page.reload()
  await page.getByText(/certificates? expires? soon/).waitFor()
  // Nothing changes any more, and nobody asks but the page itself.
  await page.getByText('2 certificates expire soon').waitFor()
  await page.getByRole('row', { name: 'lapse.example.com' }).waitFor()
  await page.goto(site.origin)
  await expect(tile('Certificates')).toHaveText('Certificates3 valid2 expiring soon')
  await site.api.call('DELETE', `/api/domains/${id}`)
  visit.expectNoComplaints()
})

it('lists the last changes by what they were about, and leads there', async () => {
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
  visit.expectNoComplaints()
})
