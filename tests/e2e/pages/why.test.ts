import type { TraceSight } from '@postern/contract/why/trace'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fakes/fake-edge'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, type Site, startSite, type Visit } from '../harness.ts'
import { lookAt, type Scene } from '../scenes.ts'

let site: Site
let edge: FakeEdge
let node: number
let web: number

beforeAll(async () => {
  // Nothing of a test leaves the machine: this name server refuses to answer.
  site = await startSite({ POSTERN_DNS_SERVERS: '127.0.0.1:9' })
  edge = await connectFakeEdge(site.paths)
  node = (await site.api.createNode({ name: 'office' })).id
  web = (await site.api.publish(node, { name: 'wiki', domain: 'wiki.example.com', backendPort: 8080 })).id
  await site.api.publishPort(node, { name: 'mqtt', backendPort: 1883, port: 32_700 })
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

const sights = (...last: TraceSight[]): TraceSight[] => [
  { step: 'port', port: 443, closed: null, wall: null },
  { step: 'route', found: { service: web, node, path: '/', isDisabled: false, isConsole: false } },
  { step: 'access', list: 'everyone', signIn: 'none' },
  {
    step: 'tunnel',
    peer: { isThere: true, latestHandshake: Date.now() - 12_000, endpoint: '198.51.100.7:51820', isUp: true },
  },
  ...last,
]
const WORKS: TraceSight[] = [
  { step: 'target', address: '10.64.0.2', port: 8080, result: 'connected', ms: 3 },
  { step: 'answer', status: 200, path: '/', result: 'answered', ms: 9 },
]
const REFUSED: TraceSight = { step: 'target', address: '10.64.0.2', port: 8080, result: 'refused', ms: 2 }

const ask = async (page: Page, address: string) => {
  await page.getByLabel(label('Address')).fill(address)
  await page.getByRole('button', { name: 'Find Out' }).click()
}
const scenes: Scene[] = [
  { name: 'why-empty', path: () => '/why', shows: 'Follows a visitor' },
  {
    name: 'why-works',
    path: () => '/why',
    async act(page) {
      edge.setSights(sights(...WORKS))
      await ask(page, 'https://wiki.example.com/')
    },
    shows: 'Visitors get an answer',
  },
  {
    name: 'why-stops',
    path: () => '/why',
    async act(page) {
      edge.setSights(sights(REFUSED))
      await ask(page, 'https://wiki.example.com/a/long/path/that/goes/on/and/on/index.html')
    },
    shows: 'Stops at: Backend reached',
  },
]

lookAt(() => site, scenes, {
  widths: [
    [1440, 1024],
    [390, 360],
  ],
  axe: [1440, 390],
})

describe('the page', () => {
  let visit: Visit
  let page: Page
  beforeAll(async () => {
    visit = await site.open('/nodes')
    page = visit.page
  })
  afterAll(() => visit?.close())
  const steps = () => page.getByRole('main').getByRole('list').getByRole('listitem')

  it('opens from the menu of a service, and asks at once about its address', async () => {
    edge.setSights(sights(REFUSED))
    await page.goto(`${site.origin}/nodes/${node}`)
    await page.getByRole('button', { name: 'Actions for wiki' }).click()
    await page.getByRole('menuitem', { name: 'Why?' }).click()
    await page.waitForURL(/\/why\?url=/)
    await expect(page.getByLabel(label('Address'))).toHaveValue('https://wiki.example.com/')
    await page.getByText('Stops at: Backend reached').waitFor()
    await expect(steps()).toHaveCount(9)
    const stop = steps().filter({ hasText: 'Stops here' })
    await expect(stop).toContainText('10.64.0.2:8080: The service refused the connection.')
    await expect(stop).toContainText('Check that it is running')
    await expect(steps().last()).toContainText('Not looked at')
  })

  it('asks again, and shows the way that works now', async () => {
    edge.setSights(sights(...WORKS))
    await page.getByRole('button', { name: 'Find Out' }).click()
    await page.getByText('Visitors get an answer').waitFor()
    await page.getByRole('link', { name: 'wiki' }).waitFor()
  })

  it('copies all of it as text', async () => {
    await page.getByRole('button', { name: 'Copy as text' }).click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toMatch(/^Why\? https:\/\/wiki\.example\.com\/\nLooked at: /)
    expect(copied).toContain('9. Answer of the program: OK\n   The program answered 200 for / after 9 ms.')
  })

  it('takes hosts and ports, keeps no query, and says what it cannot read', async () => {
    await ask(page, 'wiki.example.com/x?token=secret')
    await page.getByRole('heading', { name: 'https://wiki.example.com/x' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${site.origin}/why?url=https%3A%2F%2Fwiki.example.com%2Fx`)
    await ask(page, '32700/tcp')
    await page.getByRole('heading', { name: 'tcp://203.0.113.1:32700' }).waitFor()
    await ask(page, 'ftp://wiki.example.com')
    await page.getByText('Enter an address like').waitFor()
    await page.getByLabel("Visitor's IP").fill('nobody')
    await ask(page, 'wiki.example.com')
    await page.getByText('Enter one IP address').waitFor()
  })

  it('is filled in for a person who comes from a page of the proxy, who may have to sign in first', async () => {
    const link = `<a href="${site.origin}/why" referrerpolicy="unsafe-url">Find out why</a>`
    await page
      .context()
      .route('http://wiki.example.com/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: `<!doctype html><title>503</title>${link}` }),
      )
    await page.goto('http://wiki.example.com/page?token=secret')
    await page.getByRole('link', { name: 'Find out why' }).click()
    await expect(page.getByLabel(label('Address'))).toHaveValue('http://wiki.example.com/page')
    await page.getByText('Visitors get an answer').waitFor()
  })

  it('says that no edge is there', async () => {
    edge.close()
    await ask(page, 'wiki.example.com')
    await page.getByText('No edge is connected to this server').waitFor()
    edge = await connectFakeEdge(site.paths)
  })
})
