import { readFileSync } from 'node:fs'
import type { CreatedNode } from '@postern/contract/nodes'
import type { HttpService } from '@postern/contract/services/services'
import { connectEdgeClient } from '@postern/testkit/edge-client'
import { connectFakeEdge, type FakeEdge } from '@postern/testkit/fakes/fake-edge'
import { makeKept } from '@postern/testkit/kept-requests'
import type { Page } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { label, type Site, startSite } from '../harness.ts'
import { lookAt, type Scene } from '../scenes.ts'
import { choose } from '../steps.ts'

let site: Site
let edge: FakeEdge
let node: CreatedNode
let web: HttpService
let shop: HttpService
const now = Date.now()

beforeAll(async () => {
  site = await startSite()
  edge = await connectFakeEdge(site.paths)
  node = await site.api.createNode({ name: 'office' })
  web = await site.api.publish(node.id, { name: 'wiki', domain: 'wiki.example.com', skipValidation: true })
  shop = await site.api.publish(node.id, { name: 'shop', domain: 'shop.example.com', skipValidation: true })
})
afterAll(async () => {
  edge?.close()
  await site?.close()
})

beforeAll(() => {
  edge.keep(
    Array.from({ length: 120 }, (_, n) => ({
      ...{ at: now - 200_000 + n * 1000, service: n % 2 ? web.id : shop.id, path: `/page/${n}` },
      ...(n % 10 === 0 && { status: 404 }),
    })),
  )
  edge.keep([
    {
      at: now - 3000,
      service: web.id,
      path: '/admin',
      status: 403,
      reason: 'blocked',
      source: '198.51.100.9',
      target: null,
    },
    {
      at: now - 2000,
      service: shop.id,
      path: '/pay',
      method: 'POST',
      status: 502,
      reason: 'no-answer',
      total: 4200,
    },
    {
      at: now - 1000,
      service: 99_999,
      type: 'tcp',
      method: null,
      path: null,
      status: null,
      person: 'ann@example.com',
    },
  ])
})

const rows = (page: Page) => page.locator('.requests tbody tr:not(.skel)')
const open = async (address = '/requests', more: Parameters<Site['open']>[1] = {}) => {
  const visit = await site.open(address, more)
  await visit.page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
  return visit
}

it('shows the newest first, more on request, and what comes at the top', async () => {
  const visit = await open()
  const { page } = visit
  await expect(rows(page)).toHaveCount(50)
  await expect(rows(page).first()).toContainText('TCP connection')
  await expect(rows(page).first()).toContainText('Deleted service 99999')
  await expect(rows(page).nth(1)).toContainText('POST /pay')
  await page.getByText('New requests appear here').waitFor()
  await visit.expectAccessible()
  edge.keep([{ service: web.id, path: '/live' }])
  await expect(rows(page).first()).toContainText('GET /live')
  await page.getByRole('button', { name: 'Pause' }).click()
  edge.keep([{ service: web.id, path: '/held' }])
  await page.getByRole('button', { name: '1 new request' }).click()
  await expect(rows(page).first()).toContainText('GET /held')
  await page.getByRole('button', { name: 'Show older' }).click()
  await expect(rows(page)).toHaveCount(102)
  await page.getByRole('button', { name: 'Show older' }).click()
  await page.getByText('There are no older ones.').waitFor()
})

it('keeps its filters in the address, as chips that go with a click', async () => {
  const visit = await open()
  const { page } = visit
  await page.getByRole('searchbox', { name: 'Search paths' }).fill('/page/1')
  await expect(rows(page)).toHaveCount(31)
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await visit.expectAccessible()
  await dialog.getByLabel(label('Status')).fill('4x')
  await dialog.getByRole('button', { name: 'Show Requests' }).click()
  await dialog.getByText('must be a status like 404').waitFor()
  await dialog.getByLabel(label('Status')).fill('4xx')
  await dialog.getByLabel(label('Service')).fill('shop')
  await page.getByRole('option', { name: 'shop on office' }).click()
  await dialog.getByLabel(label('Time')).selectOption('Last hour')
  await dialog.getByRole('button', { name: 'Show Requests' }).click()
  await expect(rows(page)).toHaveCount(3)
  expect(new URL(page.url()).search).toBe(`?last=1h&service=${shop.id}&status=4xx&path=%2Fpage%2F1`)
  await page.getByRole('button', { name: 'Remove filter Status: 4xx' }).click()
  await expect(rows(page)).toHaveCount(15)
  await page.reload()
  await expect(rows(page)).toHaveCount(15)
  await page.getByRole('button', { name: 'Clear all' }).click()
  await expect(rows(page)).toHaveCount(50)
  await page.goBack()
  await expect(rows(page)).toHaveCount(15)
})

it('opens one with all that is known, by the keyboard too, and leads on to its like', async () => {
  const visit = await open('/requests?reason=blocked')
  const { page } = visit
  await expect(rows(page)).toHaveCount(1)
  await page.getByRole('button', { name: 'GET /admin' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  for (const text of [
    'GET /admin',
    '403',
    'the IP list of the service does not allow',
    '198.51.100.9',
    'office',
  ])
    await dialog.getByText(text).first().waitFor()
  await expect(dialog.getByText('Sent to')).toHaveCount(0)
  await visit.expectAccessible()
  await dialog.getByRole('link', { name: 'Only this visitor' }).click()
  expect(new URL(page.url()).search).toContain('source=198.51.100.9')
  await expect(dialog).toHaveCount(0)
})

it('says when nothing matches, and when the edge gives no answer', async () => {
  const { page } = await open('/requests?status=418')
  await page.getByText('No requests match').waitFor()
  await page.getByRole('button', { name: 'Show all requests' }).click()
  await expect(rows(page)).toHaveCount(50)
})

it('saves what is filtered', async () => {
  const { page } = await open('/requests?path=/pay')
  await expect(rows(page)).toHaveCount(1)
  for (const [choice, expected] of [
    ['CSV', /,shop,.*,POST,\/pay,/],
    ['JSON lines', /"path":"\/pay"/],
  ] as const) {
    const saving = page.waitForEvent('download')
    await choose(page, 'Export', choice)
    const lines = readFileSync(await (await saving).path(), 'utf8')
      .trimEnd()
      .split('\n')
    expect(lines.at(-1)).toMatch(expected)
  }
})

it('is one click from a service and from its live log', async () => {
  const { page } = await site.open(`/nodes/${node.id}`)
  await choose(page, 'Actions for wiki', 'Requests')
  await page.getByRole('button', { name: 'Remove filter Service: wiki' }).waitFor()
  await page.goto(`${site.origin}/nodes/${node.id}/http/${shop.id}/logs`)
  await page.getByRole('link', { name: 'Requests of the last days' }).click()
  await page.getByRole('button', { name: 'Remove filter Service: shop' }).waitFor()
  await page.goto(`${site.origin}/`)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Requests' }).click()
  await expect(rows(page)).toHaveCount(50)
})

const openRow = async (page: Page) => {
  await rows(page).first().click()
  await page.getByRole('dialog').waitFor()
}
const openFilter = (page: Page) => page.getByRole('button', { name: 'Filter', exact: true }).click()
const PATH = '/requests?status=4xx&last=1h'
const scenes: Scene[] = [
  { name: 'requests', path: () => PATH, shows: 'Export' },
  { name: 'requests-one', path: () => PATH, act: openRow, shows: 'Only this service' },
  { name: 'requests-filter', path: () => PATH, act: openFilter, shows: 'Slower than' },
]

lookAt(() => site, scenes, {
  widths: [
    [1440, 1024],
    [390, 360],
  ],
  axe: [1440, 390],
})

it('says how far a long search has come, and stops it', async () => {
  // It never comes to an end, and finds one on the way.
  let asked = 0
  const slow = await connectEdgeClient(site.paths, {
    epoch: 'slow',
    onHint(hint) {
      // Streams of pages that are still open search too.
      if (hint.type !== 'search' || hint.after !== null) return
      asked++
      // By place, not by the number of calls: the page may start the search again.
      const step = hint.before === null ? 1 : 1_000_001 - Number(hint.before.split('-')[1])
      const found = step === 3 ? [{ ...makeKept({ service: web.id, path: '/rare' }), place: '1-7' }] : []
      const reached = Date.UTC(2026, 10, 26) - step * 60_000
      const answer = { ask: hint.ask, found, next: `1-${1_000_000 - step}`, reached, newest: '1-1000000' }
      setTimeout(() => slow.send({ type: 'found', ...answer }), 200)
    },
  })
  const visit = await open('/requests?path=/rare&to=2026-11-27T00:00:00Z', { timezoneId: 'UTC' })
  const { page } = visit
  await page.getByText(/^Searched back to 11\/25\/2026, \d\d:\d\d:00 UTC$/).waitFor()
  await expect(rows(page)).toHaveCount(1)
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Show older' }).waitFor()
  // A call may still be under way; a running search makes several a second.
  let after = -1
  const isQuiet = () => {
    const before = after
    after = asked
    return before === asked
  }
  await expect.poll(isQuiet, { intervals: [1000] }).toBe(true)
  await page.getByRole('button', { name: 'Show older' }).click()
  await expect.poll(() => asked).toBeGreaterThan(after + 2)
  slow.close()
})
