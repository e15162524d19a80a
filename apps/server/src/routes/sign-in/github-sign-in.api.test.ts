import { signInAtGitHub, startGitHubDouble } from '@postern/testkit/fakes/github'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { beforeAll, expect, it } from 'vitest'

const HOST = 'a.example.com'

const github = shared(() => startGitHubDouble(['https://203.0.113.1/.postern/callback']))
const server = shared(() =>
  startTestServer({
    trustForwarded: true,
    settings: {
      POSTERN_OIDC_ISSUER: `github:${github.url}`,
      POSTERN_OIDC_CLIENT_ID: github.clientId,
      POSTERN_OIDC_CLIENT_SECRET: github.clientSecret,
    },
  }),
)
const client = shared(() => server.signIn())
beforeAll(async () => {
  const form = { domain: HOST, skipValidation: true, authentication: true }
  await client.post('/api/domains', { ...form, allowedEmails: ['ann@example.com'] })
})

const open = (host: string, url: string, cookie = '') =>
  server.call({
    method: 'GET',
    url,
    headers: { host: 'x', 'x-forwarded-host': host, 'x-forwarded-proto': 'https', cookie },
  })
const pathOf = (address: unknown) => {
  const { pathname, search } = new URL(String(address))
  return pathname + search
}

async function signIn(account: string) {
  const began = await open(HOST, '/.postern/sign-in?to=%2Fx%3Fy')
  const attempt = String(began.headers['set-cookie']).split(';')[0]
  const back = await signInAtGitHub(String(began.headers.location), account)
  const returned = await open('203.0.113.1', pathOf(back))
  return returned.statusCode === 302 ? await open(HOST, pathOf(returned.headers.location), attempt) : returned
}

it('a visitor comes in by the confirmed primary address of a GitHub account, and by no other', async () => {
  const address = (email: string, primary: boolean, verified: boolean) => ({
    ...{ email, primary, verified },
    visibility: null,
  })
  github.accounts.set('ann', [address('x@example.com', false, true), address('Ann@example.com', true, true)])
  github.accounts.set('eve', [
    address('eve@example.com', true, true),
    address('ann@example.com', false, true),
  ])
  github.accounts.set('mallory', [address('ann@example.com', true, false)])
  const came = await signIn('ann')
  expect(came.headers.location).toBe('https://a.example.com/x?y')
  expect(String(came.headers['set-cookie'])).toMatch(/^__Host-postern=ey/)
  for (const [account, words] of Object.entries({ eve: 'eve@example.com', mallory: 'does not confirm' })) {
    const refused = await signIn(account)
    expect(refused.statusCode).toBe(403)
    expect(refused.body).toContain(words)
    expect(String(refused.headers['set-cookie'])).not.toMatch(/__Host-postern=ey/)
  }
  expect((await signIn('nobody')).body).toContain('You could not be signed in')
  expect(server.logged()).not.toMatch(/gho_|github-secret|code=/)
  expect((await client.get('/api/config')).json().signIn).toEqual({
    issuer: `${github.url}/login/oauth`,
    redirectUrl: 'https://203.0.113.1/.postern/callback',
  })
})
