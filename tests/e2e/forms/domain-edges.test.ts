import type { Domain } from '@postern/contract/domains'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { beforeAll, expect as check, it } from 'vitest'
import { expect } from '../expect.ts'
import { addFar, startSiteForEdges } from '../far-edge.ts'
import { label } from '../harness.ts'
import { choose } from '../steps.ts'

const site = shared(() => startSiteForEdges())
const NAME = 'shop.example.com'
const KNOWN = { domain: NAME, ssl: 'self-signed', skipValidation: true }
let far: number
const dialog = (page: Page) => page.getByRole('dialog', { name: /^Domain & SSL Settings/ })
const save = (page: Page) => dialog(page).getByRole('button', { name: 'Save' }).click()

async function findDomain(): Promise<Domain> {
  const { json } = await site.api.call('GET', '/api/domains')
  // The call has checked the answer against the contract.
  return (json as Domain[]).find(({ domain }) => domain === NAME) as Domain
}

beforeAll(async () => {
  await site.api.call('POST', '/api/domains', KNOWN)
})

it('with one edge nobody is asked which edges serve a domain', async () => {
  const { page } = await site.open('/domains')
  await choose(page, `Actions for ${NAME}`, 'Edit Domain')
  await dialog(page).getByLabel(label('Domain')).waitFor()
  await expect(dialog(page).getByLabel('Served By')).toHaveCount(0)
})

it('with several edges, chosen ones serve it, or all of them again', async () => {
  await connectFakeEdge(site.paths)
  far = (await addFar(site, { name: 'vienna', place: 'Vienna', servesConsole: false })).id
  const visit = await site.open('/domains')
  visit.forgive(/422|was not/)
  const { page } = visit
  const open = () => choose(page, `Actions for ${NAME}`, 'Edit Domain')
  await open()
  await dialog(page).getByLabel('Served By').selectOption('some')
  const edges = dialog(page).getByRole('group', { name: 'Edges that serve it' })
  await expect(edges.getByRole('checkbox')).toHaveCount(2)
  await edges.getByLabel('Local').uncheck()
  await edges.getByLabel('vienna').uncheck()
  await save(page)
  await dialog(page).getByText('Choose an edge, or leave the list empty for all of them.').waitFor()
  await edges.getByLabel('vienna').check()
  await visit.expectAccessible()
  await save(page)
  await page.getByText('Domain updated successfully!').waitFor()
  check((await findDomain()).edges).toEqual([far])
  await open()
  await expect(dialog(page).getByLabel('Served By')).toHaveValue('some')
  await expect(edges.getByLabel('vienna')).toBeChecked()
  await expect(edges.getByLabel('Local')).not.toBeChecked()
  await dialog(page).getByLabel('Served By').selectOption('all')
  await save(page)
  await expect(dialog(page)).toHaveCount(0)
  check((await findDomain()).edges).toBeNull()
})
