import { sessionHead } from '@postern/contract/sign-in/sign-in'
import { fetchState } from '@postern/testkit/edge-client'
import { shared } from '@postern/testkit/shared'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JWTVerifyOptions, jwtVerify } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { ANN, claimsOf, HOST, OTHER, startSignInLab } from '../../../test/sign-in-lab.ts'
import { PLACES } from '../../core/secrets/secrets.ts'
import { loadIdentities } from '../../core/sign-in/identities.ts'
import { createVisitorSessions } from '../../core/sign-in/sessions.ts'

const lab = shared(startSignInLab)
beforeEach(async () => {
  lab.time.now = Date.now()
  await lab.allow([ANN])
})

describe('the identity for services', () => {
  /** Like a service with the same keys as the edges. */
  const verify = async (token: string, options: JWTVerifyOptions = {}) => {
    const { sections } = await fetchState(lab.server, {})
    const keys = (sections.settings?.identityKeys ?? []).map(({ id, x, y }) => ({
      ...{ kty: 'EC', crv: 'P-256', alg: 'ES256', kid: id, x, y },
    }))
    const expected = { issuer: 'https://203.0.113.1', audience: HOST, currentDate: new Date(lab.time.now) }
    return await jwtVerify(token, createLocalJWKSet({ keys }), { ...expected, ...options })
  }

  it('is verified by the public keys: who, for which domain, and no longer than the session', async () => {
    const browser = lab.browser()
    await lab.signIn(browser)
    const { identity, iat, exp } = claimsOf(browser)
    const { payload, protectedHeader } = await verify(identity)
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JWT' })
    expect(payload).toEqual({ iss: 'https://203.0.113.1', sub: ANN, email: ANN, aud: HOST, iat, exp })
    await expect(verify(identity, { audience: OTHER })).rejects.toThrow('aud')
    await expect(verify(identity, { currentDate: new Date((exp + 1) * 1000) })).rejects.toThrow('exp')
    const [head, , mark] = identity.split('.')
    const changed = Buffer.from(JSON.stringify({ ...payload, email: 'eve@example.com' })).toString(
      'base64url',
    )
    await expect(verify(`${head}.${changed}.${mark}`)).rejects.toThrow('signature')
  })

  it('is renewed with the session, and is no session itself', async () => {
    const browser = lab.browser()
    await lab.signIn(browser)
    const { identity } = claimsOf(browser)
    lab.time.now += 7 * 3_600_000
    await browser.open('/.postern/renew?to=%2F')
    const next = claimsOf(browser)
    expect(decodeJwt(next.identity).exp).toBe(next.exp)
    expect(next.exp - (decodeJwt(identity).exp ?? 0)).toBe(7 * 3600)
    browser.cookies.set('__Host-postern', next.identity)
    expect((await browser.open('/.postern/renew?to=%2F')).headers['set-cookie']).toBeUndefined()
  })

  it('is signed by a new key only a day after its publication, and the previous one stays published', async () => {
    const browser = lab.browser(OTHER)
    await lab.signIn(browser)
    const old = claimsOf(browser).identity
    const { identities } = lab.server.context
    const before = identities.publicKeys()
    lab.time.now += 31 * 86_400_000
    await identities.renew()
    expect(identities.publicKeys()).toEqual([expect.anything(), ...before])
    const idOf = (token: string) => decodeProtectedHeader(token).kid
    await lab.signIn(browser)
    expect(idOf(claimsOf(browser).identity)).toBe(idOf(old))
    lab.time.now += 86_400_000
    await lab.signIn(browser)
    const next = claimsOf(browser).identity
    expect(idOf(next)).toBe(identities.publicKeys()[0]?.id)
    await verify(next, { audience: OTHER })
    await verify(old, { audience: OTHER, currentDate: new Date() })
    lab.client = await lab.server.signIn()
  })

  it('fits into a cookie with the longest possible names', async () => {
    const longest = (length: number) => 'x'.repeat(length)
    const identities = await loadIdentities(lab.server.context, () => `https://${longest(253)}:32443`)
    const sessions = createVisitorSessions({ ...lab.server.context, identities })
    const session = await sessions.seal({
      ...{
        member: '9'.repeat(15),
        email: longest(254),
        aud: longest(253),
        auth_time: Math.floor(lab.time.now / 1000),
      },
    })
    expect(session.length).toBeLessThan(3500)
    expect(session.split('.')[0]).toBe(sessionHead(lab.server.context.signInKeys.current().id))
    expect(await sessions.read(session)).toMatchObject({ email: longest(254) })
  })

  it('is signed by a key that cannot be read from a copy of the database', async () => {
    const rows = await lab.server.context.db.selectFrom('settings').selectAll().execute()
    const kept = rows.find(({ key }) => key === 'sign-in.identity-keys')?.value ?? ''
    expect(kept).toMatch(/^v2\./)
    expect(JSON.stringify(await fetchState(lab.server, {}))).not.toContain('pkcs8')
    const [key] = JSON.parse(lab.server.context.secrets.open(kept, PLACES.setting('sign-in.identity-keys')))
    expect(JSON.stringify(await fetchState(lab.server, {}))).not.toContain(key.secret)
  })
})
