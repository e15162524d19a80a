import { shared } from '@postern/testkit/shared'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'
import { choose } from '../steps.ts'

const site = shared(() => startSite())
const node = shared(() => site.api.createNode({ name: 'office' }))

it('a name that services had becomes the console’s once a person confirms it', async () => {
  const service = await site.api.publish(node.id, {
    name: 'web',
    domain: 'ops.example.com',
    pathLocation: '/x',
  })
  await site.api.removeService(service)
  const visit = await site.open('/nodes/1')
  const { page } = visit
  visit.forgive(/422|The form was not saved/)
  const editConsole = async () => {
    await choose(page, 'Actions for Console', 'Edit Service')
    const form = page.getByRole('dialog')
    await form.waitFor()
    return form
  }
  const form = await editConsole()
  await form.getByLabel(label('Public Domain')).fill('ops.example.com')
  await page.keyboard.press('Escape')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('what they left in browsers could act in the console').waitFor()
  await expect(form.getByLabel('Skip Domain Validation')).toHaveCount(0)
  await visit.expectAccessible()
  await form.getByLabel('Use This Name Anyway').check()
  await form.getByRole('button', { name: 'Save' }).click()
  const consoles = async () => (await site.api.call('GET', '/api/services/http?domain=ops.example.com')).json
  await expect.poll(consoles).toMatchObject([{ system: true }])
})
