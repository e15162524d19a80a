import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { parseSettings } from '@postern/contract/settings/settings'
import { beforeEach, describe, expect, it } from 'vitest'
import { createProvider } from './create-provider.ts'

const ISSUER = 'https://id.example.com'
const SECRET = 'a-secret'
const QUESTION = { state: 'a-state', nonce: 'a-nonce', verifier: 'v'.repeat(43) }
const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const publicPem = own.publicKey.export({ type: 'spki', format: 'pem' })
const jwkOf = (key: KeyObject, kid: string) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' })

type Fields = Record<string, unknown>
/** What the provider answers by address, and whom it was asked for. */
let answers: Record<string, () => Response>
let asked: string[]

const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/auth`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
}
const json = (body: unknown) =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } })

beforeEach(() => {
  asked = []
  answers = {
    '/.well-known/openid-configuration': () => json(METADATA),
    '/keys': () => json({ keys: [jwkOf(own.publicKey, '1')] }),
  }
})

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const byRsa = (key: KeyObject) => (text: string) =>
  sign('sha256', Buffer.from(text), key).toString('base64url')
const byHmac = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest('base64url')

function tokenOf(header: Fields, claims: Fields, seal: (text: string) => string): string {
  const now = Math.floor(Date.now() / 1000)
  const said = {
    iss: ISSUER,
    aud: 'postern',
    sub: 'ann',
    nonce: 'a-nonce',
    iat: now,
    exp: now + 300,
    ...claims,
  }
  const text = `${part({ alg: 'RS256', kid: '1', ...header })}.${part({ email: 'ann@example.com', email_verified: true, ...said })}`
  return `${text}.${seal(text)}`
}

async function redeem(id_token: string | undefined, metadata: Fields = {}, search = '') {
  answers['/.well-known/openid-configuration'] = () => json({ ...METADATA, ...metadata })
  answers['/token'] ??= () => json({ access_token: 'at', token_type: 'Bearer', id_token })
  const settings = parseSettings({
    POSTERN_OIDC_ISSUER: ISSUER,
    POSTERN_OIDC_CLIENT_ID: 'postern',
    POSTERN_OIDC_CLIENT_SECRET: SECRET,
  })
  const provider = createProvider(settings, {
    timeoutSeconds: 5,
    async fetch(url, options) {
      asked.push(url)
      expect(options.redirect).toBe('manual')
      return answers[new URL(url).pathname]?.() ?? new Response('', { status: 404 })
    },
  })
  const back = new URL(`https://203.0.113.1/.postern/callback?code=x&state=a-state${search}`)
  return await provider?.redeem(back, QUESTION)
}

it('a right identity admits its account', async () => {
  const account = await redeem(tokenOf({}, {}, byRsa(own.privateKey)))
  expect(account).toMatchObject({ email: 'ann@example.com', doubt: null })
})

describe('an identity is refused', () => {
  const now = Math.floor(Date.now() / 1000)
  const rsa = byRsa(own.privateKey)
  it.each([
    ['without a seal', tokenOf({ alg: 'none' }, {}, () => '')],
    ['without a seal, in capitals', tokenOf({ alg: 'NONE' }, {}, () => '')],
    ['with the seal cut off', tokenOf({}, {}, () => '')],
    ['sealed with our own secret', tokenOf({ alg: 'HS256' }, {}, byHmac(SECRET))],
    ['sealed with the public key as a secret', tokenOf({ alg: 'HS256' }, {}, byHmac(String(publicPem)))],
    ['signed by another key of the same name', tokenOf({}, {}, byRsa(other.privateKey))],
    ['signed by a key that nobody shows', tokenOf({ kid: '2' }, {}, byRsa(other.privateKey))],
    ['signed by a key without a name', tokenOf({ kid: undefined }, {}, byRsa(other.privateKey))],
    [
      'signed by the key that it brings',
      tokenOf({ jwk: jwkOf(other.publicKey, '1') }, {}, byRsa(other.privateKey)),
    ],
    [
      'signed by a key at an address that it names',
      tokenOf({ jku: 'https://evil.example/keys' }, {}, byRsa(other.privateKey)),
    ],
    ['with rules that we do not know', tokenOf({ crit: ['b64'], b64: false }, {}, rsa)],
    ['by another algorithm', tokenOf({ alg: 'PS256' }, {}, rsa)],
    ['of another issuer', tokenOf({}, { iss: 'https://id.example.com/' }, rsa)],
    ['for another application', tokenOf({}, { aud: 'other' }, rsa)],
    ['for several, made for another', tokenOf({}, { aud: ['postern', 'other'], azp: 'other' }, rsa)],
    ['of another sign-in', tokenOf({}, { nonce: 'other' }, rsa)],
    ['of no sign-in', tokenOf({}, { nonce: undefined }, rsa)],
    ['that has expired', tokenOf({}, { iat: now - 900, exp: now - 600 }, rsa)],
    ['that never expires', tokenOf({}, { exp: undefined }, rsa)],
    ['that counts later', tokenOf({}, { nbf: now + 600 }, rsa)],
    ['of nobody', tokenOf({}, { sub: undefined }, rsa)],
    ['that is encrypted', `${part({ alg: 'dir', enc: 'A256GCM' })}.${'.AAAA'.repeat(4).slice(1)}`],
    ['that is missing', undefined],
  ])('%s', async (_what, token) => {
    await expect(redeem(token)).rejects.toMatchObject({ code: 'provider', kind: 'untrusted' })
    expect(asked.filter((url) => !url.startsWith(`${ISSUER}/`))).toEqual([])
  })

  it('that comes with the name of another provider', async () => {
    const token = tokenOf({}, {}, byRsa(own.privateKey))
    const more = { authorization_response_iss_parameter_supported: true }
    await expect(redeem(token, more, '&iss=https://evil.example')).rejects.toMatchObject({
      kind: 'untrusted',
    })
    await expect(redeem(token, more)).rejects.toMatchObject({ kind: 'untrusted' })
    await expect(redeem(token, {}, '&iss=https://evil.example')).rejects.toMatchObject({ kind: 'untrusted' })
    expect(asked.filter((url) => url.endsWith('/token'))).toEqual([])
  })
})

describe('a provider', () => {
  it.each([
    ['its token', 'token_endpoint'],
    ['its keys', 'jwks_uri'],
  ])('is not asked for %s without TLS, where others could answer', async (_what, name) => {
    const token = tokenOf({}, {}, byRsa(own.privateKey))
    await expect(redeem(token, { [name]: 'http://10.0.0.1/x' })).rejects.toMatchObject({ code: 'provider' })
    expect(asked).not.toContain('http://10.0.0.1/x')
  })

  it.each(['/token', '/keys', '/.well-known/openid-configuration'])(
    'that points elsewhere from %s is not followed',
    async (path) => {
      const away = () => new Response(null, { status: 302, headers: { location: 'https://10.0.0.1/' } })
      answers[path] = away
      const token = tokenOf({}, {}, byRsa(own.privateKey))
      const found = path.startsWith('/.') ? findAway(away) : redeem(token)
      await expect(found).rejects.toMatchObject({ code: 'provider' })
      expect(asked.filter((url) => !url.startsWith(`${ISSUER}/`))).toEqual([])
    },
  )
})

async function findAway(away: () => Response) {
  const settings = parseSettings({
    POSTERN_OIDC_ISSUER: ISSUER,
    POSTERN_OIDC_CLIENT_ID: 'postern',
    POSTERN_OIDC_CLIENT_SECRET: SECRET,
  })
  return await createProvider(settings, {
    fetch: async (url) => {
      asked.push(url)
      return away()
    },
  })?.discover()
}
