import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '@postern/testkit/temp-dir'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from '../expect.ts'
import { type Site, startSite } from '../harness.ts'

let site: Site
let directory: string

beforeAll(async () => {
  directory = join(tempDir(), 'copies')
  site = await startSite({ POSTERN_BACKUP_DIR: directory })
})
afterAll(() => site?.close())

it('shows where backups are, makes one, and says why one failed', async () => {
  const visit = await site.open('/settings')
  const { page } = visit
  const card = page.getByRole('region', { name: 'Backups' })
  await card.getByText(directory).waitFor()
  await card.getByText('None yet').waitFor()
  await card.getByRole('button', { name: 'Back Up Now' }).click()
  await page.getByText('Backup made').waitFor()
  await card.getByText('1, at most 7').waitFor()
  await expect(card.getByText(/^\d\d\/\d\d\/\d{4}, .* (KB|MB)$/)).toBeVisible()
  const [name = ''] = readdirSync(directory)
  expect(readdirSync(join(directory, name)).sort()).toEqual(['postern.db', 'secret.key'])
  rmSync(directory, { recursive: true })
  writeFileSync(directory, '')
  await card.getByRole('button', { name: 'Back Up Now' }).click()
  await page.getByText('The backup failed').waitFor()
  await card.getByText(/It is not a directory\. Choose another\. It is tried again every hour\.$/).waitFor()
  await visit.expectAccessible()
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  visit.expectNoComplaints()
  await visit.close()
})
