import type { IncomingMessage } from 'node:http'
import Provider from 'oidc-provider'
import { findFreePort } from '../port.ts'

/** An account at the issuer, and its claims. */
export interface OidcAccount {
  /** What the signed identity holds, where that is something else than at the second address. */
  identity?: Record<string, unknown>
  email?: string
  email_verified?: boolean
  preferred_username?: string
  groups?: string[]
  /** Its name for ever; default: the one that it signs in with. */
  sub?: string
}

/** A real OpenID provider at a port of loopback: its form takes the name of an account and any password. */
export interface OidcIssuer {
  url: string
  clientId: string
  clientSecret: string
  accounts: Map<string, OidcAccount>
  onRequest(listener: (path: string) => void): void
  close(): Promise<void>
}

/** `port`: default a free one. `hasPlainTokens`: claims are only at the second address (userinfo). */
interface IssuerOptions {
  port?: number
  hasPlainTokens?: boolean
}

export async function startOidcIssuer(
  redirectUrls: string[],
  { port: given, hasPlainTokens = false }: IssuerOptions = {},
): Promise<OidcIssuer> {
  const port = given ?? (await findFreePort())
  const url = `http://127.0.0.1:${port}`
  const accounts = new Map<string, OidcAccount>()
  const [clientId, clientSecret] = ['postern', 'a secret of the test']
  const provider = new Provider(url, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUrls }],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['preferred_username'],
      groups: ['groups'],
    },
    conformIdTokenClaims: hasPlainTokens,
    cookies: { keys: ['of the test'] },
    findAccount: (_context, id) => ({
      accountId: accounts.get(id)?.sub ?? id,
      claims: async (use) => {
        const { identity, ...claims } = accounts.get(id) ?? {}
        return { sub: id, ...(use === 'id_token' && identity ? identity : claims) }
      },
    }),
    pkce: { required: () => true },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
  })
  const server = provider.listen(port, '127.0.0.1')
  await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  return {
    url,
    clientId,
    clientSecret,
    accounts,
    onRequest: (listener) =>
      void server.on('request', ({ url: path = '' }: IncomingMessage) => listener(path)),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/**
 * Goes through the issuer like a browser: follows redirects, fills in its forms, and stops at the first address
 * outside it.
 */
export async function signInAt(issuer: OidcIssuer, address: string, account: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let next = new URL(address)
  let form: Record<string, string> | undefined
  for (let step = 0; step < 12; step++) {
    if (next.origin !== issuer.url) return next
    const answer = await fetch(next, {
      redirect: 'manual',
      method: form ? 'POST' : 'GET',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(form && { body: new URLSearchParams(form) }),
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    const text = await answer.text()
    if (location) {
      next = new URL(location, next)
      form = undefined
      continue
    }
    const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1]
    if (!action) throw new Error(`the issuer answered ${answer.status}: ${text.slice(0, 2000)}`)
    next = new URL(action, next)
    form = text.includes('name="login"')
      ? { prompt: 'login', login: account, password: 'x' }
      : { prompt: 'consent' }
  }
  throw new Error('the issuer asks for ever')
}
