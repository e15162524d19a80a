import type { InvitedPerson } from '@postern/contract/people/people'
import type { ConsoleProvider, ConsoleProviderFormInput } from '@postern/contract/sign-in/console-providers'
import { type OidcIssuer, startOidcIssuer } from '@postern/testkit/fakes/oidc-issuer'
import { findFreePort } from '@postern/testkit/port'
import type { Page } from 'playwright'
import { label, type Site, startSite } from './harness.ts'
import { startPublicFront } from './public-front.ts'

/** The console at its public address, and a real provider that sends people back there. */
export interface ProviderLab extends Site {
  issuer: OidcIssuer
  /** The console's address on its own machine, to which no provider sends people back. */
  localOrigin: string
  addProvider(form?: Partial<ConsoleProviderFormInput>): Promise<ConsoleProvider>
  invite(username: string, role?: string): Promise<InvitedPerson>
  /** Signs in at the provider's pages, and comes back. */
  passProvider(page: Page, account: string): Promise<void>
  /** By the console's form. */
  signIn(page: Page, username?: string, password?: string): Promise<void>
}

export async function startProviderLab(): Promise<ProviderLab> {
  const port = await findFreePort()
  const origin = `https://127.0.0.1:${port}`
  const issuer = await startOidcIssuer([`${origin}/.postern/callback`])
  addAccount(issuer, 'ann', ['staff', 'admins'])
  addAccount(issuer, 'bob', ['staff'])
  addAccount(issuer, 'eve', ['guests'])
  const site = await startSite({ POSTERN_PUBLIC_HOST: '127.0.0.1', POSTERN_HTTPS_PORT: String(port) })
  const front = await startPublicFront(port, site.paths.serverSocket)
  const made = async (path: string, body: object) => {
    const answer = await site.api.call('POST', path, body)
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json
  }
  return {
    ...site,
    ...{ issuer, origin, localOrigin: site.origin },
    async open(path, options) {
      const visit = await site.open(path, { origin, ...options })
      // The provider's pages ask for a font from elsewhere.
      await visit.context.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ body: '' }))
      return visit
    },
    // `call` checks the answers against the contract.
    addProvider: async (form) =>
      (await made('/api/console-sign-in/providers', providerForm(issuer, form))) as ConsoleProvider,
    invite: async (username, role = 'viewer') =>
      (await made('/api/people', { username, role })) as InvitedPerson,
    passProvider: (page, account) => pass(page, issuer, origin, account),
    async signIn(page, username = 'admin', password = site.password) {
      await page.getByLabel(label('Username')).fill(username)
      await page.getByLabel(label('Password')).fill(password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    },
    async close() {
      await site.close()
      await front.close()
      await issuer.close()
    },
  }
}

function addAccount({ accounts }: OidcIssuer, name: string, groups: string[]): void {
  const email = `${name}@example.com`
  accounts.set(name, { email, email_verified: true, preferred_username: name, groups })
}

function providerForm(
  { url, clientId, clientSecret }: OidcIssuer,
  form: Partial<ConsoleProviderFormInput> = {},
): ConsoleProviderFormInput {
  return { name: 'Example', issuer: url, clientId, clientSecret, makesAccounts: false, rules: [], ...form }
}

async function pass(page: Page, { url }: OidcIssuer, origin: string, account: string): Promise<void> {
  await page.waitForURL(`${url}/**`)
  await page.locator('input[name=login]').fill(account)
  await page.locator('input[name=password]').fill('x')
  await page.locator('button[type=submit]').click()
  await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' })
  await page.locator('button[type=submit]').click()
  await page.waitForURL(`${origin}/**`)
}
