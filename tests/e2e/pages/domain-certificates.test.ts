import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connectFakeEdge } from '@postern/testkit/fakes/fake-edge'
import { shared } from '@postern/testkit/shared'
import type { Page } from 'playwright'
import { describe, it } from 'vitest'
import { putCertificate, type Standing, showStep } from '../certificates.ts'
import { expect } from '../expect.ts'
import { startSite } from '../harness.ts'
import { choose, expectClipboard, menuItems } from '../steps.ts'

const site = shared(() => startSite())
shared(() => connectFakeEdge(site.paths))

const caa = { code: 'caa', detail: 'CAA record for app.example.com prevents issuance' } as const

async function add(domain: string, standing?: Standing): Promise<number> {
  const { id } = await site.api.createDomain({ domain })
  if (standing) await putCertificate(site, id, standing)
  return id
}

const row = (page: Page, domain: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: domain, exact: true }) })

describe('the column SSL Certs', () => {
  it.each<[string, Standing | undefined, RegExp]>([
    ['self.example.com', undefined, /^Self SignedValiduntil \d\d\/\d\d\/\d{4}, by Postern Root/],
    ['valid.example.com', { endsIn: 60 }, /^Let's EncryptValiduntil \d\d\/\d\d\/\d{4}, by R11$/],
    [
      'caa.example.com',
      { problem: caa },
      /^Let's EncryptFailedCAA record for app\.example\.com prevents issuance\. Add a CAA record for this authority.*Next try: /,
    ],
    [
      'dns.example.com',
      { problem: { code: 'dns', detail: 'no valid A records found', found: [], expected: ['203.0.113.1'] } },
      /Failedno valid A records found\. DNS has no address for it\. Point it to 203\.0\.113\.1\./,
    ],
    [
      'port.example.com',
      { problem: { code: 'unreachable', detail: 'Connection refused' } },
      /FailedConnection refused\. The authority connects to port 80 of this server: open it to the internet\./,
    ],
    [
      'limit.example.com',
      { problem: { code: 'rate-limit', detail: 'too many certificates (5) already issued' } },
      /Failedtoo many certificates \(5\) already issued\. Next try: /,
    ],
  ])('of %s says what certificate there is', async (domain, standing, words) => {
    await add(domain, standing)
    const visit = await site.open(`/domains?search=${domain}`)
    const cell = row(visit.page, domain).getByRole('cell').nth(3)
    await expect(cell).toHaveText(words)
    await visit.expectAccessible()
  })

  it.each([
    ['queued', 'waiting for its turn'],
    ['validating', 'the authority is checking the domain'],
  ] as const)('of one whose order is %s says so', async (step, words) => {
    const domain = `${step}.example.com`
    await add(domain, { problem: caa })
    const visit = await site.open('/nodes')
    const { page } = visit
    await showStep(page, domain, step)
    await page.goto(`${site.origin}/domains?search=${domain}`)
    await expect(row(page, domain).getByRole('cell').nth(3)).toHaveText(`Let's EncryptPending${words}`)
    await visit.expectAccessible()
  })

  it('follows without a reload', async () => {
    const id = await add('live.example.com', { problem: caa })
    const visit = await site.open('/domains?search=live')
    const cell = row(visit.page, 'live.example.com').getByRole('cell').nth(3)
    await expect(cell).toContainText('Failed')
    await site.api.call('PATCH', `/api/domains/${id}`, { ssl: 'self-signed' })
    await expect(cell).toHaveText(/^Self SignedValid/)
  })
})

it("a failed one can be retried from its row's menu; a valid one has no such entry", async () => {
  await add('again.example.com', { problem: caa })
  await add('fine.example.com', { endsIn: 60 })
  const { page } = await site.open('/domains?search=fine')
  await page.getByRole('button', { name: 'Actions for fine.example.com' }).click()
  expect(await menuItems(page)).toEqual(['Logs Monitor', 'Edit Domain', 'Delete Domain'])
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox').fill('again')
  await row(page, 'again.example.com').waitFor()
  const answering = page.waitForResponse((response) => response.url().endsWith('/certificate/retry'))
  await choose(page, 'Actions for again.example.com', 'Try again')
  await page.getByText('Requesting a new certificate for again.example.com.').waitFor()
  expect(await (await answering).json()).toMatchObject({ certificate: { step: 'queued' } })
})

it('the root is below a domain that needs it: to download, with the fingerprint of the file', async () => {
  await add('rooted.example.com')
  await add('public.example.com', { endsIn: 60 })
  const visit = await site.open('/domains?search=rooted')
  const { page } = visit
  await page.getByRole('button', { name: 'Services of rooted.example.com' }).click()
  const part = page.getByRole('region', { name: 'Root certificate for rooted.example.com' })
  const loading = page.waitForEvent('download')
  await part.getByRole('link', { name: 'Download' }).click()
  const file = await (await loading).path()
  await part.getByText(new X509Certificate(readFileSync(file)).fingerprint256).waitFor()
  await part.getByRole('button', { name: 'Copy fingerprint' }).click()
  await expectClipboard(page, new X509Certificate(readFileSync(file)).fingerprint256)
  await expect(part.getByRole('link', { name: 'How to trust it' })).toHaveAttribute(
    'href',
    '/docs/certificates#trust-the-root',
  )
  await visit.expectAccessible()
  await page.getByRole('searchbox').fill('public')
  await page.getByRole('button', { name: 'Services of public.example.com' }).click()
  await page.getByText('No HTTP services yet.').waitFor()
  await expect(page.getByRole('region', { name: /Root certificate/ })).toHaveCount(0)
})

it('a certificate that will expire because its renewal fails is named first by the sync mark, on every page', async () => {
  await add('ending.example.com', { endsIn: 10, problem: caa })
  await add('failing.example.com', { problem: caa })
  const visit = await site.open('/nodes')
  const { page } = visit
  const mark = page.locator('.sync')
  await expect(mark).toHaveText(/^\d+ problems/)
  await mark.hover()
  await page
    .getByText(/The certificate for ending\.example\.com expires on .* couldn't be renewed: CAA record/)
    .waitFor()
  await visit.expectAccessible()
  await page.goto(`${site.origin}/domains?search=ending`)
  await expect(row(page, 'ending.example.com').getByRole('cell').nth(3)).toContainText('Expires soon')
})
