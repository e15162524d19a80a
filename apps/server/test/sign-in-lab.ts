import { type OidcIssuer, signInAt, startOidcIssuer } from '@postern/testkit/fakes/oidc-issuer'
import { type Client, startTestServer, type TestServer } from '@postern/testkit/server'
import { expect } from 'vitest'

export const HOST = 'a.example.com'
export const OTHER = 'b.example.com'
export const ANN = 'ann@example.com'
export const CALLBACK = 'https://203.0.113.1/.postern/callback'

/** A server with a real provider, and two domains whose sign-in is on. */
export interface SignInLab {
  issuer: OidcIssuer
  server: TestServer
  client: Client
  ids: Record<string, number>
  /** The server's time. */
  time: { now: number }
  allow(allowedEmails: string[], domain?: string): Promise<unknown>
  browser(host?: string): Browser
  /** @returns the address at the provider */
  begin(browser: Browser, to: string): Promise<string>
  /** @returns the address at the domain with the ticket */
  passProvider(address: string, account?: string): Promise<Passed>
  signIn(browser: Browser, to?: string, account?: string): ReturnType<Browser['open']>
  close(): Promise<void>
}

/** A browser at one domain, as far as cookies go. */
export interface Browser {
  cookies: Map<string, string>
  open(url: string, headers?: Record<string, string>): ReturnType<TestServer['call']>
}

interface Passed {
  answer: Awaited<ReturnType<Browser['open']>>
  back: URL
  location: string
}

export async function startSignInLab(): Promise<SignInLab> {
  const issuer = await startOidcIssuer([CALLBACK])
  issuer.accounts.set('ann', { email: 'Ann@Example.com', email_verified: true })
  issuer.accounts.set('eve', { email: 'eve@example.com', email_verified: true })
  issuer.accounts.set('mallory', { email: ANN, email_verified: false })
  issuer.accounts.set('nobody', {})
  const settings = {
    POSTERN_OIDC_ISSUER: issuer.url,
    POSTERN_OIDC_CLIENT_ID: issuer.clientId,
    POSTERN_OIDC_CLIENT_SECRET: issuer.clientSecret,
  }
  const time = { now: Date.now() }
  const server = await startTestServer({ trustForwarded: true, settings, world: { clock: () => time.now } })
  const lab: SignInLab = {
    ...{ issuer, server, client: await server.signIn(), ids: {}, time },
    allow: (allowedEmails, domain = HOST) =>
      lab.client.patch(`/api/domains/${lab.ids[domain]}`, { allowedEmails }),
    browser: (host = HOST) => makeBrowser(server, host),
    async begin(browser, to) {
      const answer = await browser.open(`/.postern/sign-in?to=${encodeURIComponent(to)}`)
      expect(answer.statusCode).toBe(302)
      return String(answer.headers.location)
    },
    async passProvider(address, account = 'ann') {
      const back = await signInAt(issuer, address, account)
      expect(back.origin + back.pathname).toBe(CALLBACK)
      const answer = await lab.browser('203.0.113.1').open(back.pathname + back.search)
      return { answer, back, location: String(answer.headers.location) }
    },
    async signIn(browser, to = '/', account = 'ann') {
      const { location } = await lab.passProvider(await lab.begin(browser, to), account)
      return await browser.open(pathOf(location))
    },
    async close() {
      await server.close()
      await issuer.close()
    },
  }
  for (const domain of [HOST, OTHER]) {
    const form = { domain, skipValidation: true, authentication: true, allowedEmails: ['ANN@example.com'] }
    const answer = await lab.client.post('/api/domains', form)
    expect(answer.statusCode).toBe(201)
    lab.ids[domain] = answer.json().id
  }
  return lab
}

export const pathOf = (address: string) => {
  const url = new URL(address)
  return url.pathname + url.search
}

/** The content of a browser's session. */
export const claimsOf = (browser: Browser) => {
  const body = browser.cookies.get('__Host-postern')?.split('.')[1] ?? ''
  return JSON.parse(Buffer.from(body, 'base64url').toString() || 'null')
}

function makeBrowser(server: TestServer, host: string): Browser {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async open(url, headers = {}) {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
      const answer = await server.call({
        method: 'GET',
        url,
        headers: { ...headers, host: 'x', 'x-forwarded-host': host, 'x-forwarded-proto': 'https', cookie },
      })
      for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*); (.*)$/.exec(line) ?? []
        expect(name).toMatch(/^__Host-postern(-[0-9a-f]{12})?$/)
        expect(rest).toMatch(/^Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=Lax$/)
        if (value === '') cookies.delete(name)
        else cookies.set(name, value)
      }
      return answer
    },
  }
}
