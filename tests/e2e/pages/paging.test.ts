import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { choose, rowOf } from '../steps.ts'

const site = shared(() => startSite())

it('nodes are listed ten to a page; the last page disappears with its last node', async () => {
  for (let node = 1; node <= 10; node++)
    await site.api.createNode({ name: `node-${String(node).padStart(2, '0')}` })
  const { page } = await site.open('/nodes?orderBy=name,desc')
  await showing(page, 'Showing 1 to 10 of 11 results')
  await expect(page.getByRole('row')).toHaveCount(11)
  await expect(page.getByLabel('Rows per page')).toHaveValue('10')
  await expect(page.getByRole('button', { name: 'Previous' })).toBeDisabled()
  await page.getByRole('button', { name: 'Next' }).click()
  await showing(page, 'Showing 11 to 11 of 11 results')
  await page.waitForURL('**/nodes?*page=2')
  await expect(page.getByRole('button', { name: 'Next' })).toBeDisabled()
  await page.reload()
  await showing(page, 'Showing 11 to 11 of 11 results')

  // Sorted by name, descending, the node added here is last.
  const last = await site.api.createNode({ name: 'aaa-last' })
  await showing(page, 'Showing 11 to 12 of 12 results')
  await choose(page, 'Actions for aaa-last', 'Delete Node')
  await page.getByRole('button', { name: 'Yes, delete it!' }).click()
  await rowOf(page, 'aaa-last').waitFor({ state: 'detached' })
  await showing(page, 'Showing 11 to 11 of 11 results')
  await expect(page.getByRole('row').getByRole('link')).toHaveText(['Local'])
  expect((await site.api.call('GET', `/api/nodes/${last.id}`)).status).toBe(404)
})

it('deleting the only row of a page shows the page before, without page numbers when it is the only one', async () => {
  const { page } = await site.open('/nodes?orderBy=name,asc&page=2')
  await rowOf(page, 'node-10').waitFor()
  await choose(page, 'Actions for node-10', 'Delete Node')
  await page.getByRole('button', { name: 'Yes, delete it!' }).click()
  await rowOf(page, 'node-01').waitFor()
  await page.waitForURL((url) => !url.searchParams.has('page'))
  await page.getByText(/^Showing/).waitFor({ state: 'detached' })
})

it('a search, a filter and a sort each go back to the first page', async () => {
  await site.api.createNode({ name: 'node-10' })
  const { page } = await site.open('/nodes?page=2')
  await showing(page, 'Showing 11 to 11 of 11 results')
  await page.getByRole('searchbox').fill('node-0')
  await rowOf(page, 'node-01').waitFor()
  await page.waitForURL((url) => !url.searchParams.has('page'))
  await page.goto(`${site.origin}/nodes?page=2`)
  await showing(page, 'Showing 11 to 11 of 11 results')
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await page.waitForURL('**/nodes?orderBy=name%2Casc')
  await showing(page, 'Showing 1 to 10 of 11 results')
  await page.goto(`${site.origin}/nodes?page=2`)
  await showing(page, 'Showing 11 to 11 of 11 results')
  await page.getByRole('button', { name: 'Nodes', exact: true }).click()
  await page.waitForURL('**/nodes?type=nodes')
  await rowOf(page, 'Local').waitFor({ state: 'detached' })
})

it('a person chooses how many rows a page has, and this browser remembers it', async () => {
  const visit = await site.open('/nodes?page=2')
  const { page } = visit
  await showing(page, 'Showing 11 to 11 of 11 results')
  const choice = page.getByLabel('Rows per page')
  await expect(choice.getByRole('option')).toHaveText(['10', '25', '50'])
  await choice.selectOption('25')
  await showing(page, 'Showing 1 to 11 of 11 results')
  await page.waitForURL('**/nodes?limit=25')
  await visit.expectAccessible()
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/api/nodes?*', async (route) => {
    await gate
    await route.continue()
  })
  await page.goto(`${site.origin}/nodes`)
  // While rows load, there is a placeholder for each previous row.
  await expect(page.locator('tr.skel')).toHaveCount(11)
  release()
  await showing(page, 'Showing 1 to 11 of 11 results')
  await choice.selectOption('10')
  await showing(page, 'Showing 1 to 10 of 11 results')
})

it('unknown parameters are dropped from the address, and not sent to the server', async () => {
  const { page } = await site.open('/domains')
  const asked: string[] = []
  page.on('request', (request) => void (request.url().includes('bogus') && asked.push(request.url())))
  await page.goto(`${site.origin}/nodes?type=bogus&orderBy=bogus%2Casc&page=2`)
  await showing(page, 'Showing 11 to 11 of 11 results')
  await expect(page).toHaveURL(/\/nodes\?page=2$/)
  expect(asked.filter((url) => url.includes('/api/'))).toEqual([])
})

it("a node's services are listed five to a page, and the card steps back, too", async () => {
  const node = await site.api.createNode({ name: 'busy' })
  for (let index = 1; index <= 6; index++)
    await site.api.publish(node.id, { name: `web-${index}`, pathLocation: `/web-${index}` })
  const { page } = await site.open(`/nodes/${node.id}`)
  const card = page.getByRole('region', { name: 'HTTP Services' })
  await showing(page, 'Showing 1 to 5 of 6 results')
  const choice = card.getByLabel('Rows per page')
  await choice.selectOption('25')
  await expect(card.locator('tbody tr')).toHaveCount(6)
  await page.waitForURL('**/nodes/*?http.limit=25')
  await choice.selectOption('5')
  await showing(page, 'Showing 1 to 5 of 6 results')
  await page.getByRole('button', { name: 'Next' }).click()
  await showing(page, 'Showing 6 to 6 of 6 results')
  await expect(card.locator('tbody tr')).toHaveCount(1)
  const [name = ''] = await card.locator('tbody b').allInnerTexts()
  await choose(page, `Actions for ${name}`, 'Delete Service')
  await page.getByRole('button', { name: 'Yes, delete it!' }).click()
  await expect(card.locator('tbody tr')).toHaveCount(5)
  await page.getByText(/^Showing/).waitFor({ state: 'detached' })
})

it('domains are listed ten to a page with their creation date', async () => {
  for (let index = 1; index <= 11; index++)
    await site.api.createDomain({ domain: `d${String(index).padStart(2, '0')}.example.com` })
  const { page } = await site.open('/domains')
  await showing(page, 'Showing 1 to 10 of 11 results')
  const day = await page.locator('td[data-label="Created At"]').first().innerText()
  expect(day).toMatch(/^\d\d\/\d\d\/\d{4}$/)
  const { created_at } = await site.api.createDomain({ domain: 'today.example.com' })
  const local = await page.evaluate((time) => new Date(time).toString(), created_at)
  expect(new Date(day).toDateString()).toBe(local.split(' ').slice(0, 4).join(' '))
})

async function showing(page: Page, text: string): Promise<void> {
  await page.getByText(text).waitFor()
}
