import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { type Api, isHealthy, signIn } from '@postern/testkit/api'
import { type Running, start } from '@postern/testkit/exec'
import { findFreePort } from '@postern/testkit/port'
import { whenStarted } from '@postern/testkit/started'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { expect } from './expect.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const PASSWORD = 'e2e-password-1'
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The real server with the built console, and a real browser. */
export interface Site {
  origin: string
  paths: InstallationPaths
  api: Api
  password: string
  stopServer(): Promise<void>
  startServer(): Promise<void>
  /** A page of a new visitor; what it complains about fails the test at `expectNoComplaints`. */
  open(path: string, options?: OpenOptions): Promise<Visit>
  close(): Promise<void>
}

export interface OpenOptions {
  signedIn?: boolean
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  /** The browser's, like `America/Sao_Paulo`; without one that of the machine. */
  timezoneId?: string
}

export interface Visit {
  page: Page
  context: BrowserContext
  /** Console errors, unhandled rejections, CSP violations and failed requests so far. */
  complaints: string[]
  /** For a step that breaks something on purpose. */
  forgive(pattern: RegExp): void
  expectNoComplaints(): void
  /** By all rules of WCAG 2.2 AA, or only by those that are named. */
  expectAccessible(rules?: string[]): Promise<void>
  close(): Promise<void>
}

export async function startSite(settings: Record<string, string> = {}): Promise<Site> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pt-e2e-'))
  const paths = installationPaths(dataDir)
  for (const dir of [paths.serverDir, paths.runDir]) mkdirSync(dir, { mode: 0o750 })
  writeFileSync(paths.edgeToken, 'edge-token-of-the-e2e-tests-0123456789\n', { mode: 0o640 })
  const port = await findFreePort()
  const env = {
    POSTERN_DATA_DIR: dataDir,
    POSTERN_PUBLIC_HOST: '203.0.113.1',
    POSTERN_CONSOLE_PORT: String(port),
    POSTERN_ADMIN_PASSWORD: PASSWORD,
    // Nothing of a test leaves the machine.
    POSTERN_ACME_DIRECTORY: 'https://127.0.0.1:9/directory',
    ...settings,
  }
  const main = `${ROOT}apps/server/src/main.ts`
  const startProgram = () => start([process.execPath, main], { logFile: `${dataDir}/server.log`, env })
  let server: Running = startProgram()
  const api = await whenStarted(server, 'the server', () => signIn(paths.serverSocket, 'admin', PASSWORD))
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: CHROMIUM_ARGS })
  const origin = `http://127.0.0.1:${port}`
  return {
    origin,
    paths,
    api,
    password: PASSWORD,
    stopServer: () => server.stop(),
    async startServer() {
      server = startProgram()
      await whenStarted(server, 'the server', () => isHealthy(api))
    },
    open: (path, options) => openPage(browser, origin, api.token, path, options),
    async close() {
      await browser.close()
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** A field by its label, with or without the star of a required one. */
export function label(text: string): RegExp {
  return new RegExp(`^${text.replace(/[/.]/g, '\\$&')}\\s*\\*?$`)
}

async function openPage(
  browser: Browser,
  origin: string,
  token: string,
  path: string,
  options: OpenOptions = {},
) {
  const { signedIn = true, width = 1440, height = 900, scheme = 'light', timezoneId } = options
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    ...(timezoneId && { timezoneId }),
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  if (signedIn) await context.addCookies([{ name: 'token', value: token, url: origin, sameSite: 'Strict' }])
  const page = await context.newPage()
  page.setDefaultTimeout(45_000)
  const visit = watch(page, context)
  await page.goto(`${origin}${path}`)
  // The page may still be loading its parts, or lead to another: what a test does next must not come in between.
  await page.locator('#root > *').first().waitFor({ state: 'attached' })
  return visit
}

function watch(page: Page, context: BrowserContext): Visit {
  const complaints: string[] = []
  const forgiven: RegExp[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`page: ${error.message}`))
  return {
    page,
    context,
    complaints,
    forgive: (pattern) => void forgiven.push(pattern),
    expectNoComplaints() {
      expect(complaints.filter((text) => !forgiven.some((pattern) => pattern.test(text)))).toEqual([])
    },
    async expectAccessible(rules) {
      const axe = new AxeBuilder({ page }).setLegacyMode()
      const { violations } = await (rules ? axe.withRules(rules) : axe.withTags(WCAG)).analyze()
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual(
        [],
      )
    },
    close: () => context.close(),
  }
}
