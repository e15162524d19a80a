import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseSettings } from '@postern/contract/settings/settings'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createProvider } from './create-provider.ts'
import type { Provider } from './provider.ts'

const HOST = 'https://login.microsoftonline.com'
const OURS = '11111111-1111-4111-8111-111111111111'
const THEIRS = '99999999-9999-4999-8999-999999999999'
const QUESTION = { state: 'a-state', nonce: 'a-nonce', verifier: 'v'.repeat(43) }

/** The claims of the next token, in addition to those of the tenant's tokens. */
let claims: Record<string, unknown> = {}
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
let local: string
let close: () => void
/** Replaces fields of the next discovery. */
let authorization: string | undefined
let fault: 'hangs' | 'huge' | number | undefined

/** As at Microsoft: one issuer for all tenants, with a placeholder for the tenant's id. */
beforeAll(async () => {
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' }
  const server = createServer((request, response) => {
    const [, tenant = ''] = (request.url ?? '').split('/')
    const id = tenant === 'common' || tenant === 'organizations' ? '{tenantid}' : tenant
    const answers: Record<string, () => unknown> = {
      [`/${tenant}/v2.0/.well-known/openid-configuration`]: () => ({
        issuer: `${HOST}/${id}/v2.0`,
        authorization_endpoint: authorization ?? `${HOST}/${tenant}/oauth2/v2.0/authorize`,
        token_endpoint: `${HOST}/${tenant}/oauth2/v2.0/token`,
        jwks_uri: `${HOST}/${tenant}/discovery/v2.0/keys`,
        id_token_signing_alg_values_supported: ['RS256'],
        subject_types_supported: ['pairwise'],
        response_types_supported: ['code'],
      }),
      [`/${tenant}/discovery/v2.0/keys`]: () => ({ keys: [jwk] }),
      [`/${tenant}/oauth2/v2.0/token`]: () => token(),
    }
    if (fault === 'hangs') return
    if (typeof fault === 'number') return void response.writeHead(fault).end('no')
    const body = fault === 'huge' ? 'x'.repeat(10_000_000) : JSON.stringify(answers[request.url ?? '']?.())
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  local = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on TCP
  close = () => {
    server.closeAllConnections()
    server.close()
  }
})
afterAll(() => close())

function token(): object {
  const now = Math.floor(Date.now() / 1000)
  const own = { tid: OURS, sub: 'x', email: 'Ann@Example.com', nonce: 'a-nonce', aud: 'postern', ...claims }
  const body = { iss: `${HOST}/${own.tid}/v2.0`, iat: now, exp: now + 300, ...own }
  const text = [{ alg: 'RS256', kid: '1' }, body]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const seal = sign('sha256', Buffer.from(text), privateKey).toString('base64url')
  return { access_token: 'at', token_type: 'Bearer', id_token: `${text}.${seal}` }
}

/** The real client, with the double in place of Microsoft's hosts. */
function open(issuer: string, { timeoutSeconds = 5, place = local, host = HOST } = {}): Provider {
  const secret = { POSTERN_OIDC_CLIENT_ID: 'postern', POSTERN_OIDC_CLIENT_SECRET: 'secret' }
  const made = createProvider(parseSettings({ POSTERN_OIDC_ISSUER: issuer, ...secret }), {
    timeoutSeconds,
    fetch: (url, options) => fetch(url.replace(host, place), options as RequestInit), // the library's own type
  })
  if (!made) throw new Error('a provider is set up')
  return made
}

const signIn = async (issuer: string, said: Record<string, unknown>) => {
  claims = said
  fault = undefined
  const back = new URL('https://203.0.113.1/.postern/callback?code=x&state=a-state')
  return await open(issuer).redeem(back, QUESTION)
}

describe.each(['microsoft', `${HOST}/organizations/v2.0`])('Microsoft by %s', (issuer) => {
  it.each([true, 'true', 1, '1'])(
    'admits accounts whose domain Microsoft has verified (%j)',
    async (xms_edov) => {
      expect(await signIn(issuer, { xms_edov })).toMatchObject({ email: 'ann@example.com', doubt: null })
      // Each tenant has an issuer of its own.
      expect(await signIn(issuer, { xms_edov, tid: THEIRS })).toMatchObject({ doubt: null })
    },
  )

  it.each([
    ['nothing else', {}],
    ['its own word', { email_verified: true }],
    ['a claim that says no', { xms_edov: false, email_verified: true }],
    ['a claim that says no as a text', { xms_edov: '0', email_verified: 'true' }],
    ['a claim of another type', { xms_edov: { value: true } }],
    ['a claim that is null', { xms_edov: null }],
    ['a verified secondary address', { verified_secondary_email: ['ann@example.com'] }],
  ])('does not accept the address that a foreign tenant wrote, with %s', async (_what, more) => {
    const account = await signIn(issuer, { tid: THEIRS, ...more })
    expect(account).toMatchObject({ email: 'ann@example.com', doubt: expect.stringMatching(/xms_edov/) })
  })

  it('does not fold another letter into one of a listed address', async () => {
    const said = { email: '\u{212A}ATE@example.com', xms_edov: true }
    expect(await signIn(issuer, said)).toMatchObject({ email: '\u{212A}ate@example.com' })
  })

  it('never treats a name as an e-mail address', async () => {
    const said = {
      email: undefined,
      preferred_username: 'ann@example.com',
      upn: 'ann@example.com',
      xms_edov: true,
    }
    expect(await signIn(issuer, said)).toMatchObject({ email: null })
  })

  it.each([
    ['another tenant’s issuer', { iss: `${HOST}/${THEIRS}/v2.0` }],
    ['the place of the tenant', { iss: `${HOST}/{tenantid}/v2.0` }],
    ['another host', { iss: `https://sts.evil.example/${OURS}/v2.0` }],
    ['another application', { aud: 'other' }],
    ['another sign-in', { nonce: 'other' }],
  ])('refuses a token of %s', async (_what, more) => {
    await expect(signIn(issuer, { xms_edov: true, ...more })).rejects.toMatchObject({ kind: 'untrusted' })
  })
})

it('one tenant of Microsoft admits nobody from another', async () => {
  const issuer = `${HOST}/${OURS}/v2.0`
  expect(await signIn(issuer, { xms_edov: true })).toMatchObject({ doubt: null })
  await expect(signIn(issuer, { xms_edov: true, tid: THEIRS })).rejects.toMatchObject({ kind: 'untrusted' })
  // Even here, a tenant's own claim does not count.
  expect(await signIn(issuer, { email_verified: true })).toMatchObject({ doubt: expect.any(String) })
})

describe('discovery', () => {
  it('tells the addresses', async () => {
    fault = undefined
    expect(await open('microsoft').discover()).toEqual({
      issuer: `${HOST}/{tenantid}/v2.0`,
      endpoints: [
        { name: 'Authorization', url: `${HOST}/common/oauth2/v2.0/authorize` },
        { name: 'Token', url: `${HOST}/common/oauth2/v2.0/token` },
        { name: 'Keys', url: `${HOST}/common/discovery/v2.0/keys` },
      ],
    })
  })

  it.each([
    [500, 'unreachable', /500/],
    [404, 'untrusted', /no OpenID provider/],
    ['huge', 'untrusted', /too long/],
    ['hangs', 'unreachable', /did not answer/],
  ] as const)('that fails (%s) is recognised, and tried again', async (what, kind, message) => {
    fault = what
    const provider = open('microsoft', { timeoutSeconds: what === 'hangs' ? 0.3 : 5 })
    await expect(provider.discover()).rejects.toMatchObject({ kind, message: expect.stringMatching(message) })
    fault = undefined
    await expect(open('microsoft').discover()).resolves.toBeDefined()
  })

  it('that would send people to a program instead of a page is refused', async () => {
    fault = undefined
    authorization = 'javascript:alert(1)//'
    const question = { ...QUESTION, redirectUrl: 'https://203.0.113.1/.postern/callback', asksAccount: false }
    await expect(open('microsoft').address(question)).rejects.toMatchObject({ kind: 'untrusted' })
    authorization = undefined
  })

  it('tries again with the next visitor, and accepts no other issuer', async () => {
    const provider = open('microsoft')
    fault = 500
    await expect(provider.discover()).rejects.toMatchObject({ kind: 'unreachable' })
    fault = undefined
    await expect(provider.discover()).resolves.toBeDefined()
    const elsewhere = open('https://id.example.com', {
      host: 'https://id.example.com',
      place: `${local}/common/v2.0`,
    })
    await expect(elsewhere.discover()).rejects.toMatchObject({
      kind: 'untrusted',
      message: expect.stringMatching(/enter the issuer as the provider writes it/),
    })
  })
})
