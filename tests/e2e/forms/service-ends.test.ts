import type { HttpService } from '@postern/contract/services/services'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import type { Page } from 'playwright'
import { expect, it, onTestFinished } from 'vitest'
import { expect as expectSoon } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose } from '../steps.ts'

const site = shared(() => startSite())
const node = shared(() => site.api.createNode({ name: 'office' }))
const HOUR = 3_600_000

async function open() {
  const visit = await site.open(`/nodes/${node.id}`)
  onTestFinished(() => visit.close())
  return visit
}

async function findService(name: string): Promise<HttpService | undefined> {
  const { json } = await site.api.call('GET', `/api/services/${node.id}/http`)
  // The contract's answer without a page.
  return (json as HttpService[]).find((service) => service.name === name)
}

/** The page's history has rows of the name, too. */
function rowOf(page: Page, name: string) {
  const rows = page.getByRole('region', { name: 'HTTP Services' }).getByRole('row')
  return rows.filter({ has: page.getByText(name, { exact: true }) })
}

async function edit(page: Page, name: string) {
  await choose(page, `Actions for ${name}`, 'Edit Service')
  return page.getByRole('dialog', { name: `Edit HTTP Service: ${name}` })
}

it('is chosen in the form, stands in the row and in the details, and can be taken back', async () => {
  await site.api.createDomain({ domain: 'demo.example.com' })
  const visit = await open()
  const { page } = visit
  await page
    .getByRole('region', { name: 'HTTP Services' })
    .getByRole('button', { name: 'Add Service' })
    .first()
    .click()
  const form = page.getByRole('dialog', { name: 'Expose HTTP Service on Node' })
  const ends = form.getByLabel(label('Ends After'))
  await expectSoon(ends.getByRole('option')).toHaveText([
    ...['Never', '1 hour', '8 hours', '1 day', '7 days', '30 days', 'Another time …'],
  ])
  await expectSoon(ends).toHaveAccessibleDescription('It stays until it is deleted.')
  await form.getByLabel(label('Public Domain')).fill('demo.example.com')
  await form.getByLabel(label('Service Name')).fill('demo')
  await ends.selectOption('8 hours')
  await expectSoon(ends).toHaveAccessibleDescription('Then the service is deleted.')
  await visit.expectAccessible()
  await form.getByRole('button', { name: 'Save' }).click()
  const info = page.getByRole('dialog').filter({ hasText: 'Public Access' })
  await info.getByText('The service is deleted then.').waitFor()
  await visit.expectAccessible()
  await info.getByRole('button', { name: 'Got it!' }).click()
  await rowOf(page, 'demo').getByText('Ends in 8 h').waitFor()
  await visit.expectAccessible()

  const again = await edit(page, 'demo')
  await expectSoon(again.getByLabel(label('Ends After'))).toHaveValue('kept')
  await again.getByLabel(label('Ends After')).selectOption('Never')
  await again.getByRole('button', { name: 'Save' }).click()
  await info.getByRole('button', { name: 'Got it!' }).click()
  expect((await findService('demo'))?.endsAt).toBeNull()
  await expectSoon(rowOf(page, 'demo').getByText(/^Ends in/)).toHaveCount(0)
})

it('can be another time, whose errors stand at the field, and the row goes at its end', async () => {
  const { id, nodeId } = await site.api.publish(node.id, { name: 'short', domain: 'short.example.com' })
  const visit = await open()
  const { page } = visit
  const form = await edit(page, 'short')
  await form.getByLabel(label('Ends After')).selectOption('Another time …')
  const time = form.getByLabel(label('Time Until It Ends'))
  await expectSoon(time).toHaveValue('2h')
  await time.fill('soon')
  await form.getByRole('button', { name: 'Save' }).click()
  await expectSoon(time).toHaveAccessibleDescription(
    'Enter a length of time from 1 second to 10 years, like 90m, 8h or 7d.',
  )
  await visit.expectAccessible()
  await time.fill('1h30m')
  await form.getByRole('button', { name: 'Save' }).click()
  const service = await until('the end to be saved', async () => {
    const found = await findService('short')
    return found?.endsAt ? found : undefined
  })
  expect(Math.abs(Date.parse(service.endsAt ?? '') - Date.now() - 1.5 * HOUR)).toBeLessThan(60_000)
  await page.getByRole('dialog').getByRole('button', { name: 'Got it!' }).click()
  await rowOf(page, 'short').getByText('Ends in 2 h').waitFor()
  await site.api.call('PATCH', `/api/services/${nodeId}/http/${id}`, { ttl: 2 })
  await expectSoon(rowOf(page, 'short')).toHaveCount(0)
})
