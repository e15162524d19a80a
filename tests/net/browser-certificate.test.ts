import { chmodSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Node } from '@postern/contract/nodes'
import { type Pebble, startPebble } from '@postern/testkit/authority/pebble'
import { type Installation, startInstallation } from '@postern/testkit/installation'
import { type Lab, startLab } from '@postern/testkit/lab/network'
import { startNodeExporter } from '@postern/testkit/lab/upstreams'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { label } from '../e2e/harness.ts'
import { startTrustingBrowser, visit } from './trusting-browser.ts'

let lab: Lab
let pebble: Pebble
let installation: Installation
const dir = tempDir()
let browser: Browser

beforeAll(async () => {
  chmodSync(dir, 0o755)
  lab = await startLab()
  const fixed = ['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--user=root']
  const records = [
    '--pid-file=',
    '--local=/test/',
    `--host-record=shop.test,walled.test,${lab.server.address}`,
  ]
  lab.site.start(['dnsmasq', ...fixed, ...records], { logFile: join(dir, 'dnsmasq.log') })
  const { address } = lab.site
  pebble = await startPebble({
    httpPort: 80,
    nameServer: `${address}:53`,
    inside: lab.site.argv(),
    host: address,
  })
  // The server reads it as its own user.
  chmodSync(dirname(pebble.caFile), 0o755)
  installation = await startInstallation(lab, {
    POSTERN_DNS_SERVERS: address,
    POSTERN_ACME_DIRECTORY: pebble.directory,
    POSTERN_ACME_CA_FILE: pebble.caFile,
  })
  await startNodeExporter(lab.server, dir)
  const [host, root] = [lab.visitor, await pebble.root()]
  browser = await startTrustingBrowser({ host, dir, root, address: lab.server.address })
})
afterAll(async () => {
  await browser?.close()
  await installation?.close()
  await pebble?.close()
  await lab?.close()
})

/** The console at the server's address, whose own certificate the person has accepted. */
async function openConsole(path: string): Promise<Page> {
  const origin = `https://${lab.server.address}`
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const cookie = { name: 'token', value: installation.api.token, url: origin, sameSite: 'Strict' } as const
  await context.addCookies([{ ...cookie, secure: true }])
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(`${origin}${path}`)
  return page
}

async function addDomain(page: Page, domain: string) {
  await page.getByRole('button', { name: 'Add Domain' }).first().click()
  await page.getByLabel(label('Domain')).fill(domain)
  await page.getByLabel('SSL Certificate Type').selectOption('certbot')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Domain created successfully!').waitFor()
  return page.getByRole('row').filter({ has: page.getByRole('link', { name: domain, exact: true }) })
}

/** An order takes seconds; a busy machine may need more. */
const PATIENCE = { timeout: 150_000 }

test('a person types a domain, chooses Let’s Encrypt, and the browser shows the service without a warning', async () => {
  const { api } = installation
  const page = await openConsole('/domains')
  const row = await addDomain(page, 'shop.test')
  await row.getByText('Valid', { exact: true }).waitFor(PATIENCE)
  expect(await row.innerText()).toMatch(/Let's Encrypt[\s\S]*until \d\d\/\d\d\/\d{4}, by Pebble/)
  const [local] = (await api.call('GET', '/api/nodes')).json as Node[]
  const backend = { backendHost: '127.0.0.1', backendPort: 9100 }
  await api.publish(local?.id ?? 0, { name: 'shop', domain: 'shop.test', ...backend })
  await until('the browser to show the service', async () =>
    (await visit(browser, 'https://shop.test/')).includes('Exporter'),
  )
  await page.context().close()
})

test('an authority that cannot connect is quoted on the row, and Try again resolves it', async () => {
  const wall = (...rule: string[]) => lab.server.must('nft', ...rule)
  await wall('add table inet wall; add chain inet wall in { type filter hook input priority -10; }')
  await wall(`add rule inet wall in ip saddr ${lab.site.address} tcp dport 80 reject with tcp reset`)
  const page = await openConsole('/domains')
  const row = await addDomain(page, 'walled.test')
  await row.getByText('Failed', { exact: true }).waitFor(PATIENCE)
  const words = await row.innerText()
  expect(words).toMatch(/connection refused/i)
  expect(words).toContain('The authority connects to port 80 of this server: open it to the internet.')
  expect(words).toContain('Next try: ')
  expect(await visit(browser, 'https://walled.test/')).toContain('ERR_CERT_AUTHORITY_INVALID')
  await wall('delete table inet wall')
  await page.getByRole('button', { name: 'Actions for walled.test' }).click()
  await page.getByRole('menuitem', { name: 'Try again' }).click()
  await row.getByText('Valid', { exact: true }).waitFor(PATIENCE)
  await page.context().close()
})
