import { DatabaseSync } from 'node:sqlite'
import { shared } from '@postern/testkit/shared'
import { it } from 'vitest'
import { expect } from '../expect.ts'
import { label, startSite } from '../harness.ts'

const site = shared(() => startSite())

/** As if everybody had signed in an hour ago. */
function age(): void {
  const database = new DatabaseSync(site.paths.database)
  const then = new Date(Date.now() - 3_600_000).toISOString()
  database.prepare('UPDATE sessions SET created_at = ?').run(then)
  database.close()
}

it('an invitation asks for the password once more: cancelled, nothing is done and nothing is lost', async () => {
  const visit = await site.open('/people')
  visit.forgive(/403|The form was not saved/)
  const { page } = visit
  age()
  await page.getByRole('button', { name: 'Invite' }).click()
  const form = page.getByRole('dialog', { name: 'Invite' })
  await form.getByLabel(label('Name')).fill('bob')
  await form.getByRole('button', { name: 'Save' }).click()
  const asked = page.getByRole('alertdialog', { name: 'Confirm That It Is You' })
  await asked.getByRole('button', { name: 'Cancel' }).click()
  await form.getByText('Give your password once more: this decides who may come in.').waitFor()
  await expect(form.getByLabel(label('Name'))).toHaveValue('bob')
})

// All of the site's pages have one session, which is confirmed from here on.
it('it goes on by itself when the password is right, above its form', async () => {
  const visit = await site.open('/people')
  visit.forgive(/403|422|The form was not saved|The password is not right/)
  const { page } = visit
  age()
  await page.getByRole('button', { name: 'Invite' }).click()
  const form = page.getByRole('dialog', { name: 'Invite' })
  await form.getByLabel(label('Name')).fill('ann')
  await form.getByRole('button', { name: 'Save' }).click()
  const asked = page.getByRole('alertdialog', { name: 'Confirm That It Is You' })
  await asked.getByLabel(label('Your Password')).fill('not this one')
  await asked.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('The password is not right.').waitFor()
  await asked.getByLabel(label('Your Password')).fill(site.password)
  await page.keyboard.press('Enter')
  const link = await page.getByLabel('Link', { exact: true }).inputValue()
  expect(link).toMatch(/\/invite#pti_/)
})
