import { chmodSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { HttpService } from '@postern/contract/services/services'
import { type Installation, isApplied, startInstallation } from '@postern/testkit/installation'
import type { Host, Lab } from '@postern/testkit/lab/network'
import { startEcho, startListening } from '@postern/testkit/lab/upstreams'
import type { Running } from '@postern/testkit/processes/exec'
import { until } from '@postern/testkit/until'
import { createRemoteJWKSet, customFetch, type JWTPayload, jwtVerify } from 'jose'
import { type Browser, chromium, type Page } from 'playwright'
import { ISSUER, passIssuer } from './sign-in-steps.ts'

const ISSUERS_PROGRAM = fileURLToPath(
  new URL('../../../packages/testkit/src/programs/oidc.ts', import.meta.url),
)
export const CALLBACK = 'https://203.0.113.1/.postern/callback'
const ACCOUNTS = {
  ann: { email: 'Ann@example.com', email_verified: true },
  una: { email: 'ann@example.com', email_verified: false },
  eve: { email: 'eve@example.com', email_verified: true },
}
export const SITE = 'https://app.example.com'

/** An installation with a service that requires sign-in, an issuer of accounts, and a browser. */
export interface SignInLab {
  installation: Installation
  issuer: Running
  /** Requires sign-in, except at `/open`. */
  service: HttpService
  domainId: number
  isLive(): Promise<true>
  /** Sets who may sign in; at first ann@example.com. */
  allow(...allowedEmails: string[]): Promise<void>
  newVisitor(): Promise<Page>
  signIn(page: Page, path: string, account?: keyof typeof ACCOUNTS): Promise<void>
  /** A program without a browser, with the cookies of `page`. @returns the status */
  ask(path: string, page?: Page): Promise<number>
  /** What a service does to verify who signed in; it fetches the keys from its domain's address. */
  verify(identity: string): Promise<JWTPayload>
  close(): Promise<void>
}

/** @param edge the address at which the browser finds services */
export async function startSignInLab(
  lab: Lab,
  { settings = {}, edge = lab.server.address }: { settings?: Record<string, string>; edge?: string } = {},
): Promise<SignInLab> {
  const secret = { POSTERN_OIDC_CLIENT_ID: 'postern', POSTERN_OIDC_CLIENT_SECRET: 'a secret of the test' }
  const installation = await startInstallation(lab, { POSTERN_OIDC_ISSUER: ISSUER, ...secret, ...settings })
  const { api, dataDir } = installation
  const dir = `${dataDir}/upstreams`
  const program = [process.execPath, ISSUERS_PROGRAM, '9300', CALLBACK, JSON.stringify(ACCOUNTS)]
  await startEcho(lab.server, dir, 9000, '127.0.0.1')
  const issuer = await startListening(lab.server, program, dir, 'issuer', 9300)
  const { domainId, service } = await publishGuarded(installation)
  const browser = await startBrowser(lab.server, `${dataDir}/chromium`, edge)
  const isLive = () =>
    until(
      'the service to be live',
      async () => (await isApplied(api)) && (await api.getService(service)).state.phase === 'live',
    )
  await isLive()
  return {
    ...{ installation, issuer, service, domainId, isLive },
    async allow(...allowedEmails) {
      await api.call('PATCH', `/api/domains/${domainId}`, { allowedEmails })
    },
    async newVisitor() {
      const context = await browser.newContext({ ignoreHTTPSErrors: true })
      const page = await context.newPage()
      page.setDefaultTimeout(45_000)
      return page
    },
    async signIn(page, path, account = 'ann') {
      await page.goto(SITE + path)
      await passIssuer(page, account)
    },
    ask: (path, page) => ask(lab.server, path, page),
    verify: (identity) => verify(lab.server, identity),
    async close() {
      await browser.close()
      await installation.close()
    },
  }
}

async function publishGuarded({ api }: Installation) {
  const form = { domain: 'app.example.com', skipValidation: true, authentication: true }
  const { json } = await api.call('POST', '/api/domains', { ...form, allowedEmails: ['ann@example.com'] })
  const backend = { backendHost: '127.0.0.1', backendPort: 9000 }
  const guarded = { requireAuth: true, skipAuthRoutes: '/open' }
  const service = await api.publish(1, { name: 'web', domain: 'app.example.com', ...backend, ...guarded })
  return { domainId: (json as { id: number }).id, service }
}

/** On the server's host, where the issuer has the same address for both. */
async function startBrowser(host: Host, wrapper: string, edge: string): Promise<Browser> {
  writeFileSync(wrapper, `#!/bin/sh\nexec ${host.argv('/usr/bin/chromium').join(' ')} "$@"\n`)
  chmodSync(wrapper, 0o755)
  return await chromium.launch({
    executablePath: wrapper,
    args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP *.example.com ${edge}`],
  })
}

async function ask(host: Host, path: string, page?: Page): Promise<number> {
  const cookies = (await page?.context().cookies(SITE)) ?? []
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const target = ['--resolve', 'app.example.com:443:203.0.113.1', SITE + path]
  const output = ['-o', '/dev/null', '-w', '%{http_code}', '-sk', '-H', `Cookie: ${cookie}`]
  return Number(await host.must('curl', ...output, ...target))
}

async function verify(host: Host, identity: string): Promise<JWTPayload> {
  const address = `${SITE}/.postern/jwks.json`
  const keys = createRemoteJWKSet(new URL(address), {
    [customFetch]: async () => {
      const place = ['--resolve', 'app.example.com:443:203.0.113.1', '-sk', address]
      return new Response(await host.must('curl', ...place))
    },
  })
  const expected = { issuer: 'https://203.0.113.1', audience: 'app.example.com' }
  return (await jwtVerify(identity, keys, expected)).payload
}

/** What the service says that it has received. */
export const seen = async (page: Page) => JSON.parse(await page.locator('body').innerText())
