import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { type InstallationPaths, installationPaths } from '@postern/contract/installation'
import { type Api, isHealthy, signIn } from '@postern/testkit/api'
import { findFreePort } from '@postern/testkit/port'
import { type Running, start } from '@postern/testkit/processes/exec'
import { whenStarted } from '@postern/testkit/processes/started'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { onTestFinished, TestRunner } from 'vitest'
import { RUN_WITH } from '../../scripts/lib/environment.ts'
import { nodeArgv } from '../../scripts/lib/programs/programs.ts'
import { expect } from './expect.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const PASSWORD = 'e2e-password-1'
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** Chromium as it runs without a screen: a page takes half of what it takes the whole browser. */
const CHROMIUM = '/usr/bin/chromium-headless-shell'
const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // By the flag alone no connection begins with an error: after 32 of them a request ends with another one.
  '--ignore-certificate-errors',
]

/** The real server with the console, both built, and a real browser. */
export interface Site {
  origin: string
  paths: InstallationPaths
  api: Api
  password: string
  stopServer(): Promise<void>
  startServer(): Promise<void>
  /** A new visitor's page. It is closed after the test that opens it, or with the site; errors in it fail the test. */
  open(path: string, options?: OpenOptions): Promise<Visit>
  close(): Promise<void>
}

export interface OpenOptions {
  signedIn?: boolean
  /** Another address of the server, by default the site's. Its certificate is not checked. */
  origin?: string
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  /** The browser's time zone, like `America/Sao_Paulo`; by default the machine's. */
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
  /** Checks all rules of WCAG 2.2 AA, or only those named. */
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
    ...RUN_WITH,
    // Nothing of a test leaves the machine.
    POSTERN_ACME_DIRECTORY: 'https://127.0.0.1:9/directory',
    ...settings,
  }
  const startProgram = () => start(nodeArgv(ROOT, 'server'), { logFile: `${dataDir}/server.log`, env })
  let server: Running = startProgram()
  const api = await whenStarted(server, 'the server', () => signIn(paths.serverSocket, 'admin', PASSWORD))
  const browser = await getBrowser()
  const visits: Visit[] = []
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
    async open(path, options) {
      const visit = await openPage(browser, options?.origin ?? origin, api.token, path, options)
      if (TestRunner.getCurrentTest()) onTestFinished(() => end(visit))
      else visits.push(visit)
      return visit
    },
    async close() {
      try {
        await Promise.all(visits.map(end))
      } finally {
        await server.stop()
        rmSync(dataDir, { recursive: true, force: true })
      }
    },
  }
}

async function end(visit: Visit): Promise<void> {
  try {
    visit.expectNoComplaints()
  } finally {
    await visit.close()
  }
}

let browser: Promise<Browser> | undefined

/** One for all files of a worker, as starting it takes longer than most tests. It ends with the worker's process. */
function getBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS })
  return browser
}

/** A field by its label, with or without the asterisk of a required one. */
export function label(text: string): RegExp {
  return new RegExp(`^${text.replace(/[/.()]/g, '\\$&')}\\s*\\*?$`)
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
  // The page may still be loading parts, or redirecting; a test's next step must not interfere.
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
