import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { must } from '@postern/testkit/processes/exec'
import { startTestServer, type TestServer } from '@postern/testkit/server'
import { type Browser, chromium } from 'playwright'
import { afterEach, beforeEach, expect, it } from 'vitest'

const DAY = 86_400_000
/** Two thirds of a root's ten years, and some days. */
const DUE = 2440 * DAY

let now: number
let server: TestServer
let home: string
let browser: Browser
const open: Server[] = []

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pt-trust-'))
})
afterEach(async () => {
  await browser?.close()
  for (const each of open.splice(0)) each.close()
  await server?.close()
  rmSync(home, { recursive: true })
})

/** An installation with a root of that age. */
async function startServer(age: number): Promise<void> {
  now = Date.now() - age
  const settings = { POSTERN_PUBLIC_HOST: 'edge.example.com' }
  server = await startTestServer({ settings, world: { clock: () => now } })
}

/** The browser of a person who has imported the current `/install/root.crt`. */
async function startBrowser(): Promise<void> {
  const store = join(home, '.pki/nssdb')
  rmSync(store, { recursive: true, force: true })
  mkdirSync(store, { recursive: true })
  const file = join(home, 'root.crt')
  writeFileSync(file, (await server.call({ method: 'GET', url: '/install/root.crt' })).body)
  await must(['certutil', '-d', `sql:${store}`, '-N', '--empty-password'])
  await must(['certutil', '-d', `sql:${store}`, '-A', '-t', 'C,,', '-n', 'postern', '-i', file])
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * 127.0.0.1'],
    env: { ...process.env, HOME: home },
  })
}

/** Opens a site with a certificate that the authority signs now. @returns what the page says, or the browser's error */
async function visit(name: string): Promise<string> {
  const { certificate: cert, privateKey: key } = await server.context.authority.issue([name])
  const site = createServer({ cert, key }, (_request, response) => response.end('hello')).listen(
    0,
    '127.0.0.1',
  )
  open.push(site)
  await once(site, 'listening')
  // A TCP server has an address with a port.
  const { port } = site.address() as AddressInfo
  const page = await browser.newPage()
  try {
    await page.goto(`https://${name}:${port}/`)
    return await page.innerText('body')
  } catch (error) {
    return String(error)
  }
}

it('a browser with the root shows the names of the installation without a warning, and warns of others', async () => {
  await startServer(0)
  await startBrowser()
  expect(await visit('edge.example.com')).toBe('hello')
  expect(await visit('other.example.org')).toContain('ERR_CERT')
})

it('and trusts what the next root signs, without having seen it', async () => {
  await startServer(DUE)
  await startBrowser()
  now = Date.now()
  expect(await server.context.authority.renew()).toBe(true)
  expect(await visit('edge.example.com')).toBe('hello')
  expect(await visit('other.example.org')).toContain('ERR_CERT')
})
