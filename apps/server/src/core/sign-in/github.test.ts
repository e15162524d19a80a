import { parseSettings } from '@postern/contract/settings/settings'
import { type GitHubEmail, signInAtGitHub, startGitHubDouble } from '@postern/testkit/fakes/github'
import { shared } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'
import { createProvider, openProvider } from './create-provider.ts'
import type { Provider, Question } from './provider.ts'

const CALLBACK = 'https://203.0.113.1/.postern/callback'
const QUESTION: Question = {
  redirectUrl: CALLBACK,
  state: 'a-state',
  nonce: 'a-nonce',
  verifier: 'v'.repeat(43),
  asksAccount: false,
}
const entry = (email: string, primary: boolean, verified: boolean): GitHubEmail => ({
  ...{ email, primary, verified },
  visibility: null,
})

let provider: Provider

const github = shared(() => startGitHubDouble([CALLBACK]))
beforeEach(() => {
  github.faults.clear()
  github.accounts.clear()
  github.asked.length = 0
  github.accounts.set('ann', [
    entry('ann@users.noreply.github.com', false, true),
    entry('Ann@Example.com', true, true),
    entry('boss@example.com', false, true),
  ])
  provider = open()
})

/** Enough for a busy machine; a provider that hangs gets no longer. */
function open(more: Record<string, string> = {}, timeoutSeconds = 5): Provider {
  const settings = parseSettings({
    POSTERN_OIDC_ISSUER: `github:${github.url}`,
    POSTERN_OIDC_CLIENT_ID: github.clientId,
    POSTERN_OIDC_CLIENT_SECRET: github.clientSecret,
    ...more,
  })
  const made = createProvider(settings, { timeoutSeconds })
  if (!made) throw new Error('a provider is set up')
  return made
}

const signIn = async (account: string, by = provider) =>
  await by.redeem(await signInAtGitHub((await by.address(QUESTION)).href, account), QUESTION)

describe('a visitor who signs in at GitHub', () => {
  it('is asked only for the addresses, with state and PKCE, and gets the primary one', async () => {
    const address = await provider.address(QUESTION)
    expect(address.origin + address.pathname).toBe(`${github.url}/login/oauth/authorize`)
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      client_id: github.clientId,
      redirect_uri: CALLBACK,
      scope: 'user:email',
      state: 'a-state',
      code_challenge_method: 'S256',
    })
    expect(address.searchParams.has('nonce')).toBe(false)
    expect(await signIn('ann')).toMatchObject({ email: 'ann@example.com', doubt: null })
    // GitHub has no discovery and no identities.
    expect(github.asked).toEqual([
      '/login/oauth/authorize',
      '/login/oauth/access_token',
      '/api/v3/user/emails',
    ])
  })

  it('can choose another account', async () => {
    const address = await provider.address({ ...QUESTION, asksAccount: true })
    expect(address.searchParams.get('prompt')).toBe('select_account')
  })

  it('with a letter that only folds to one of a listed address is a different visitor', async () => {
    github.accounts.set('ann', [entry('\u{212A}ATE@example.com', true, true)])
    expect(await signIn('ann')).toMatchObject({ email: '\u{212A}ate@example.com' })
  })

  it('with many addresses gets the primary one, wherever it is in the list', async () => {
    const others = Array.from({ length: 60 }, (_, index) => entry(`${index}@example.com`, false, true))
    github.accounts.set('ann', [...others, entry('ann@example.com', true, true)])
    expect(await signIn('ann')).toMatchObject({ email: 'ann@example.com', doubt: null })
  })

  it.each([
    [
      'unverified primary',
      [entry('ann@example.com', true, false), entry('b@example.com', false, true)],
      'ann@example.com',
      /not confirmed/,
    ],
    ['no primary', [entry('ann@example.com', false, true)], null, /no primary/],
    [
      'two primaries',
      [entry('a@example.com', true, true), entry('b@example.com', true, true)],
      null,
      /no primary/,
    ],
    ['none', [], null, /no primary/],
    ['one that is no address', [entry('x'.repeat(300), true, true)], null, /no primary/],
  ])('with %s does not come in', async (_what, emails, email, doubt) => {
    github.accounts.set('eve', emails)
    expect(await signIn('eve')).toMatchObject({ email, doubt: expect.stringMatching(doubt) })
  })
})

describe('a person who signs in to the console at GitHub', () => {
  const ask = () =>
    openProvider(
      {
        issuer: `github:${github.url}`,
        clientId: github.clientId,
        secret: github.clientSecret,
        wants: 'profile',
      },
      { timeoutSeconds: 5 },
    )

  it('is known by the number of the account, which no other ever has', async () => {
    const account = await signIn('ann', ask())
    expect(account).toMatchObject({
      ...{ issuer: `${github.url}/login/oauth`, subject: '1', email: 'ann@example.com', doubt: null },
      claims: { login: 'ann', id: 1, email: 'Ann@Example.com' },
    })
    // No more is asked for than for visitors.
    expect((await ask().address(QUESTION)).searchParams.get('scope')).toBe('user:email')
    expect((await signIn('ann')).subject).toBeNull()
  })

  it.each([
    ['no number', '{"login":"ann"}'],
    ['a number as text', '{"login":"ann","id":"1"}'],
    ['no JSON', 'hello'],
  ])('with %s is nobody', async (_what, body) => {
    github.faults.set('/api/v3/user', { body })
    await expect(signIn('ann', ask())).rejects.toMatchObject({
      ...{ kind: 'untrusted', message: expect.stringMatching(/is not an account/) },
    })
  })
})

describe('distinguishes failures', () => {
  const failure = async (by = provider, account = 'ann') => {
    const error = await signIn(account, by).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code: 'provider' })
    expect(String(error)).not.toMatch(/gho_|github-secret/)
    return error
  }

  it('who says no', async () => {
    expect(await failure(provider, 'nobody')).toMatchObject({ kind: 'denied' })
  })

  it('a used or invalid code, although the status is 200', async () => {
    const back = await signInAtGitHub((await provider.address(QUESTION)).href, 'ann')
    await provider.redeem(back, QUESTION)
    await expect(provider.redeem(back, QUESTION)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('The code passed is incorrect or expired.'),
    })
  })

  it('a code of another browser’s verifier, a foreign state and a foreign issuer', async () => {
    const back = async () => await signInAtGitHub((await provider.address(QUESTION)).href, 'ann')
    await expect(
      provider.redeem(await back(), { ...QUESTION, verifier: 'w'.repeat(43) }),
    ).rejects.toMatchObject({ kind: 'refused' })
    await expect(provider.redeem(await back(), { ...QUESTION, state: 'other' })).rejects.toMatchObject({
      kind: 'untrusted',
    })
    const mixed = await back()
    mixed.searchParams.set('iss', 'https://evil.example/login/oauth')
    await expect(provider.redeem(mixed, QUESTION)).rejects.toMatchObject({ kind: 'untrusted' })
  })

  it('a wrong secret, and names the setting to check', async () => {
    expect(await failure(open({ POSTERN_OIDC_CLIENT_SECRET: 'wrong' }))).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/Check the client ID and the client secret/),
    })
  })

  it('an application that may not read addresses', async () => {
    github.faults.set('/api/v3/user/emails', { status: 404 })
    expect(await failure()).toMatchObject({ kind: 'refused', message: expect.stringMatching(/OAuth app/) })
  })

  it.each(['/login/oauth/access_token', '/api/v3/user/emails'])('a failure of %s', async (path) => {
    github.faults.set(path, { status: 502 })
    expect(await failure()).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('502') })
    github.faults.set(path, { body: 'x'.repeat(10_000_000) })
    expect(await failure()).toMatchObject({ kind: 'untrusted', message: expect.stringMatching(/too long/) })
    github.faults.set(path, { body: '<html>', type: 'text/html' })
    expect(await failure()).toMatchObject({ kind: 'untrusted' })
    github.faults.set(path, { body: '[1,{"primary":true}]' })
    expect(await failure()).toMatchObject({ kind: 'untrusted' })
    github.faults.set(path, 'hangs')
    const before = performance.now()
    expect(await failure(open({}, 0.3))).toMatchObject({ kind: 'unreachable' })
    expect(performance.now() - before).toBeLessThan(4000)
  })

  it('a host that is not there', async () => {
    const gone = await startGitHubDouble([CALLBACK])
    const by = open({ POSTERN_OIDC_ISSUER: `github:${gone.url}` })
    gone.accounts.set('ann', [])
    const back = await signInAtGitHub((await by.address(QUESTION)).href, 'ann')
    await gone.close()
    await expect(by.redeem(back, QUESTION)).rejects.toMatchObject({ kind: 'unreachable' })
  })
})

describe('the addresses', () => {
  it.each([
    ['github', 'https://github.com', 'https://api.github.com'],
    ['https://github.com', 'https://github.com', 'https://api.github.com'],
    ['github:https://acme.ghe.com/', 'https://acme.ghe.com', 'https://api.acme.ghe.com'],
    ['github:https://git.example.com', 'https://git.example.com', 'https://git.example.com/api/v3'],
  ])('of %s are known', async (issuer, web, api) => {
    const by = open({ POSTERN_OIDC_ISSUER: issuer })
    expect(by.issuer).toBe(`${web}/login/oauth`)
    expect((await by.address(QUESTION)).href).toMatch(`${web}/login/oauth/authorize?`)
    expect(await by.discover()).toEqual({
      issuer: `${web}/login/oauth`,
      endpoints: [
        { name: 'Authorization', url: `${web}/login/oauth/authorize` },
        { name: 'Token', url: `${web}/login/oauth/access_token` },
        { name: 'E-mail addresses', url: `${api}/user/emails` },
      ],
    })
  })
})
