import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One address of an account, as `GET /user/emails` lists it. */
export interface GitHubEmail {
  email: string
  primary: boolean
  verified: boolean
  visibility: 'public' | 'private' | null
}

/** A failure at one of its paths: it answers with this status, never, or with this body. */
export type GitHubFault = { status: number } | 'hangs' | { body: string; type?: string }

/**
 * The part of GitHub that a sign-in with OAuth 2 needs, as documented: one-time codes, PKCE with S256, refusals of a
 * code with status 200, JSON only on request, and an API that requires a `User-Agent`. Its addresses are those of a
 * GitHub Enterprise Server, which has the API below its own host.
 */
export interface GitHubDouble {
  url: string
  clientId: string
  clientSecret: string
  /** The account that signs in next; absent: the person refuses. */
  accounts: Map<string, GitHubEmail[]>
  /** By path. */
  faults: Map<string, GitHubFault>
  /** Paths that were asked for. */
  asked: string[]
  close(): Promise<void>
}

interface Code {
  account: string
  redirectUri: string
  challenge: string
  scope: string
}

const ISSUER = '/login/oauth'
const CLIENT = { id: 'Iv1.0123456789abcdef', secret: 'github-secret-of-the-test' }

/** @param callbacks the registered callback addresses */
export async function startGitHubDouble(callbacks: readonly string[]): Promise<GitHubDouble> {
  const accounts: GitHubDouble['accounts'] = new Map()
  const faults: GitHubDouble['faults'] = new Map()
  const asked: string[] = []
  const codes = new Map<string, Code>()
  const tokens = new Map<string, Code>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
    asked.push(url.pathname)
    const fault = faults.get(url.pathname)
    if (fault === 'hangs') return
    if (fault && 'status' in fault) return send(response, fault.status, { message: 'Server Error' })
    if (fault) {
      response.writeHead(200, { 'content-type': fault.type ?? 'application/json' })
      return void response.end(fault.body)
    }
    const parts = { accounts, codes, tokens, callbacks }
    const page = PAGES[`${request.method} ${url.pathname}`]
    if (page) page(parts, url, request, response).catch(() => response.destroy())
    else send(response, 404, { message: 'Not Found' })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening server over TCP has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    accounts,
    faults,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

interface Parts extends Pick<GitHubDouble, 'accounts'> {
  codes: Map<string, Code>
  tokens: Map<string, Code>
  callbacks: readonly string[]
}
type Page = (parts: Parts, url: URL, request: IncomingMessage, response: ServerResponse) => Promise<void>

const PAGES: Record<string, Page> = {
  /** Without a form: `login` names the account, like GitHub's own parameter. */
  'GET /login/oauth/authorize': async ({ accounts, codes, callbacks }, url, request, response) => {
    const given = url.searchParams
    const redirectUri = given.get('redirect_uri') ?? ''
    if (given.get('client_id') !== CLIENT.id) return send(response, 404, { message: 'Not Found' })
    const back = new URL(callbacks.includes(redirectUri) ? redirectUri : (callbacks[0] ?? ''))
    back.searchParams.set('state', given.get('state') ?? '')
    back.searchParams.set('iss', `http://${request.headers.host}${ISSUER}`)
    const account = given.get('login') ?? ''
    const refusal = !callbacks.includes(redirectUri)
      ? [
          'redirect_uri_mismatch',
          'The redirect_uri MUST match the registered callback URL for this application.',
        ]
      : !accounts.has(account) && ['access_denied', 'The user has denied your application access.']
    if (refusal) {
      back.searchParams.set('error', refusal[0] ?? '')
      back.searchParams.set('error_description', refusal[1] ?? '')
    } else {
      if (given.get('code_challenge') && given.get('code_challenge_method') !== 'S256')
        return send(response, 422, { message: 'Only S256' })
      const code = randomBytes(10).toString('hex')
      const challenge = given.get('code_challenge') ?? ''
      codes.set(code, { account, redirectUri, challenge, scope: given.get('scope') ?? '' })
      back.searchParams.set('code', code)
    }
    response.writeHead(302, { location: back.href }).end()
  },

  'POST /login/oauth/access_token': async ({ codes, tokens }, _url, request, response) => {
    const given = new URLSearchParams(await readText(request))
    const code = codes.get(given.get('code') ?? '')
    codes.delete(given.get('code') ?? '')
    const refuse = (error: string, error_description: string) =>
      sendTo(request, response, { error, error_description, error_uri: '/apps/oauth-apps/' })
    if (given.get('client_id') !== CLIENT.id || given.get('client_secret') !== CLIENT.secret)
      return refuse(
        'incorrect_client_credentials',
        'The client_id and/or client_secret passed are incorrect.',
      )
    const digest = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    if (!code || (code.challenge !== '' && code.challenge !== digest))
      return refuse('bad_verification_code', 'The code passed is incorrect or expired.')
    if (given.get('redirect_uri') !== code.redirectUri)
      return refuse(
        'redirect_uri_mismatch',
        'The redirect_uri MUST match the registered callback URL for this application.',
      )
    const token = `gho_${randomBytes(18).toString('hex')}`
    tokens.set(token, code)
    sendTo(request, response, { access_token: token, scope: code.scope, token_type: 'bearer' })
  },

  'GET /api/v3/user/emails': async ({ accounts, tokens }, url, request, response) => {
    if (!request.headers['user-agent'])
      return send(response, 403, { message: 'Request forbidden by administrative rules.' })
    const code = tokens.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
    if (!code) return send(response, 401, { message: 'Bad credentials' })
    if (!code.scope.split(/[ ,]/).includes('user:email')) return send(response, 404, { message: 'Not Found' })
    const size = Math.min(Number(url.searchParams.get('per_page') ?? 30), 100)
    send(response, 200, accounts.get(code.account)?.slice(0, size))
  },

  /** Any token will do, whatever its scope. An account has the number of its place. */
  'GET /api/v3/user': async ({ accounts, tokens }, _url, request, response) => {
    const code = tokens.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
    if (!code) return send(response, 401, { message: 'Bad credentials' })
    const id = [...accounts.keys()].indexOf(code.account) + 1
    send(response, 200, { login: code.account, id, name: null, type: 'User' })
  },
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}

/** The token endpoint answers in JSON only on request. */
function sendTo(request: IncomingMessage, response: ServerResponse, body: Record<string, string>): void {
  const isJson = request.headers.accept?.includes('application/json')
  const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded'
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` })
  response.end(isJson ? JSON.stringify(body) : new URLSearchParams(body).toString())
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Goes through it like a browser.
 * @returns the address to which it sends the visitor back
 */
export async function signInAtGitHub(address: string, account: string): Promise<URL> {
  const url = new URL(address)
  url.searchParams.set('login', account)
  const answer = await fetch(url, { redirect: 'manual' })
  const location = answer.headers.get('location')
  if (!location) throw new Error(`GitHub's double answered ${answer.status}: ${await answer.text()}`)
  return new URL(location)
}
