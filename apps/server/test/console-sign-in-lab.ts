import { randomBytes } from 'node:crypto'
import type { ConsoleProvider, ConsoleProviderFormInput } from '@postern/contract/sign-in/console-providers'
import { type OidcIssuer, signInAt, startOidcIssuer } from '@postern/testkit/fakes/oidc-issuer'
import { type Client, startTestServer, TEST_ADMIN, type TestServer } from '@postern/testkit/server'
import type { LightMyRequestResponse } from 'fastify'
import { CALLBACK } from './sign-in-lab.ts'

/** A server whose console people can sign in to by a real provider. */
export interface ConsoleSignInLab {
  issuer: OidcIssuer
  server: TestServer
  /** The first administrator. */
  admin: Client
  addProvider(form?: Partial<ConsoleProviderFormInput>): Promise<ConsoleProvider>
  /** One browser, with a key of its own. */
  browser(address?: string): KeyedBrowser
  close(): Promise<void>
}

/** A browser at the console. */
export interface KeyedBrowser {
  key: string
  call(method: 'GET' | 'POST', url: string, body?: object, token?: string): Promise<LightMyRequestResponse>
  /** @returns the address at the provider */
  begin(provider: number, invite?: string): Promise<string>
  /** Signs in at the provider, and comes back. @returns what the console's callback answers */
  pass(address: string, account: string): Promise<LightMyRequestResponse>
  finish(ticket: string): Promise<LightMyRequestResponse>
  /** All of it. @returns what the last step answers */
  signIn(provider: number, account: string, invite?: string): Promise<LightMyRequestResponse>
  /** By the first administrator's password, or another's. @returns the session's token */
  signInByPassword(form?: { username: string; password: string }): Promise<string>
}

export async function startConsoleSignInLab(): Promise<ConsoleSignInLab> {
  const issuer = await startOidcIssuer([CALLBACK])
  const verified = (name: string, groups: string[]) =>
    issuer.accounts.set(name, {
      ...{ email: `${name}@example.com`, email_verified: true, preferred_username: name, groups },
    })
  verified('ann', ['staff', 'admins'])
  verified('bob', ['staff'])
  verified('eve', ['guests'])
  const server = await startTestServer({ trustForwarded: true })
  const lab: ConsoleSignInLab = {
    ...{ issuer, server, admin: await server.signIn() },
    async addProvider(form) {
      const answer = await lab.admin.post('/api/console-sign-in/providers', providerForm(issuer, form))
      if (answer.statusCode !== 201) throw new Error(answer.body)
      return answer.json()
    },
    browser: (address) => makeBrowser(issuer, server, address),
    async close() {
      await server.close()
      await issuer.close()
    },
  }
  return lab
}

export const RULES = [
  { claim: 'groups', value: 'admins', role: 'admin' },
  { claim: 'groups', value: 'staff', role: 'editor' },
] as const

export function providerForm(
  { url, clientId, clientSecret }: OidcIssuer,
  form: Partial<ConsoleProviderFormInput> = {},
): ConsoleProviderFormInput {
  return { name: 'Example', issuer: url, clientId, clientSecret, makesAccounts: false, rules: [], ...form }
}

/** What comes with the browser in the fragment. */
export const ticketOf = ({ headers }: LightMyRequestResponse) =>
  /#ticket=([\w.-]+)$/.exec(String(headers.location))?.[1] ?? ''

function makeBrowser(issuer: OidcIssuer, server: TestServer, address = '198.51.100.7'): KeyedBrowser {
  const key = randomBytes(24).toString('base64url')
  const browser: KeyedBrowser = {
    key,
    call: (method, url, body, token) =>
      server.call({
        ...{ method, url, ...(method === 'POST' && { payload: body ?? {} }) },
        headers: {
          ...{ host: 'x', 'x-forwarded-host': '203.0.113.1', 'x-forwarded-proto': 'https' },
          ...{ 'x-forwarded-for': address, 'x-postern-key': key },
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      }),
    async begin(provider, invite) {
      const answer = await browser.call('POST', '/api/auth/provider', { provider, invite: invite ?? null })
      if (answer.statusCode !== 200) throw new Error(answer.body)
      return answer.json().address
    },
    async pass(to, account) {
      const back = await signInAt(issuer, to, account)
      return await browser.call('GET', back.pathname + back.search)
    },
    finish: (ticket) => browser.call('POST', '/api/auth/provider/finish', { ticket }),
    async signIn(provider, account, invite) {
      return await browser.finish(
        ticketOf(await browser.pass(await browser.begin(provider, invite), account)),
      )
    },
    async signInByPassword(form = TEST_ADMIN) {
      const answer = await browser.call('POST', '/api/auth/login', form)
      return answer.json().token
    },
  }
  return browser
}
