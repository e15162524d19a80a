import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import { must } from '@postern/testkit/exec'
import type { Page } from 'playwright'
import { afterAll, beforeAll, it } from 'vitest'
import { expect } from './expect.ts'
import { label, type Site, startSite } from './harness.ts'

let site: Site
/** The console by https at the same host. */
let front: Server
let httpsOrigin: string

beforeAll(async () => {
  site = await startSite()
  front = createServer(await makeCertificate(), (visitor) => {
    const server = connect(Number(new URL(site.origin).port), '127.0.0.1')
    for (const each of [visitor, server])
      each.on('error', () => [visitor, server].map((end) => end.destroy()))
    visitor.pipe(server).pipe(visitor)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  // A TCP listener has this kind of address.
  httpsOrigin = `https://127.0.0.1:${(front.address() as AddressInfo).port}`
})
afterAll(async () => {
  front?.close()
  await site?.close()
})

async function makeCertificate() {
  const dir = mkdtempSync(join(tmpdir(), 'pt-front-'))
  const files = ['-keyout', `${dir}/key`, '-out', `${dir}/cert`]
  await must(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=127.0.0.1', ...files])
  const made = { key: readFileSync(`${dir}/key`), cert: readFileSync(`${dir}/cert`) }
  rmSync(dir, { recursive: true })
  return made
}

async function signIn(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/domains`)
  await page.waitForURL('**/login')
  await page.getByLabel(label('Username')).fill('admin')
  await expect(page.getByText('Your session has ended.')).toHaveCount(0)
  await page.getByLabel(label('Password')).fill(site.password)
  await page.keyboard.press('Enter')
  await expectSignedIn(page)
}

const expectSignedIn = (page: Page) => page.getByRole('heading', { name: 'Domains', exact: true }).waitFor()

it.each([
  ['http', 'https'],
  ['https', 'http'],
])('by %s first, the console by http and by https at one host are two sessions', async (firstWay) => {
  const origins = [site.origin, httpsOrigin]
  const [firstOrigin = '', secondOrigin = ''] = firstWay === 'http' ? origins : origins.reverse()
  const visit = await site.open('/login', { signedIn: false, isTrusting: true })
  visit.forgive(/401|Failed to load/)
  const first = visit.page
  const second = await visit.context.newPage()
  second.setDefaultTimeout(45_000)
  await signIn(first, firstOrigin)
  await signIn(second, secondOrigin)
  for (const page of [first, second]) {
    await page.reload()
    await expectSignedIn(page)
  }
  await second.getByRole('button', { name: 'Sign out' }).click()
  await second.waitForURL('**/login')
  await first.reload()
  await expectSignedIn(first)
  await signIn(second, secondOrigin)
  await first.getByRole('button', { name: 'Sign out' }).click()
  await first.waitForURL('**/login')
  await second.reload()
  await expectSignedIn(second)
  await second.getByRole('button', { name: 'Sign out' }).click()
  await second.waitForURL('**/login')
  await expect.poll(() => visit.context.cookies()).toEqual([])
  visit.expectNoComplaints()
  await visit.close()
})
