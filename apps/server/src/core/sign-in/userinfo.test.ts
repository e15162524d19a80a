import { type OidcIssuer, signInAt, startOidcIssuer } from '@postern/testkit/fakes/oidc-issuer'
import { duringTest } from '@postern/testkit/shared'
import { expect, it } from 'vitest'
import { openProvider } from './create-provider.ts'

const CALLBACK = 'https://203.0.113.1/.postern/callback'
const QUESTION = {
  ...{ redirectUrl: CALLBACK, state: 'a-state', nonce: 'a-nonce', verifier: 'v'.repeat(43) },
  asksAccount: false,
}

async function signIn(issuer: OidcIssuer, wants: 'email' | 'profile') {
  const { url, clientId, clientSecret } = issuer
  const provider = openProvider({ issuer: url, clientId, secret: clientSecret, wants })
  const back = await signInAt(issuer, (await provider.address(QUESTION)).href, 'ann')
  return await provider.redeem(back, QUESTION)
}

it('what the signed identity does not hold is looked up, of the same account', async () => {
  const issuer = await duringTest(() => startOidcIssuer([CALLBACK], { hasPlainTokens: true }))
  issuer.accounts.set('ann', { email: 'ann@example.com', email_verified: true, groups: ['staff'] })
  expect(await signIn(issuer, 'profile')).toMatchObject({
    ...{ subject: 'ann', issuer: issuer.url, email: 'ann@example.com', doubt: null },
    claims: { groups: ['staff'] },
  })
  // Of visitors only what is signed counts.
  expect(await signIn(issuer, 'email')).toMatchObject({ email: null })
})

it('an address of the signed identity is not verified by what is said elsewhere', async () => {
  const issuer = await duringTest(() => startOidcIssuer([CALLBACK]))
  issuer.accounts.set('ann', { email: 'ann@example.com', groups: ['staff'] })
  const account = await signIn(issuer, 'profile')
  expect(account).toMatchObject({ email: 'ann@example.com', doubt: expect.stringMatching(/email_verified/) })
})

it('an address of the second place is not verified by what the identity says about none', async () => {
  const issuer = await duringTest(() => startOidcIssuer([CALLBACK]))
  const identity = { email_verified: true }
  issuer.accounts.set('ann', { email: 'boss@example.com', email_verified: false, identity })
  const account = await signIn(issuer, 'profile')
  expect(account).toMatchObject({ email: 'boss@example.com', doubt: expect.stringMatching(/email_verified/) })
})
