import { startOidcIssuer } from '@postern/testkit/fakes/oidc-issuer'
import { findFreePort } from '@postern/testkit/port'
import { startTestServer } from '@postern/testkit/server'
import { shared } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { CALLBACK, HOST } from '../../../test/sign-in-lab.ts'

const lab = shared(async () => {
  const [one, two] = [await startOidcIssuer([CALLBACK]), await startOidcIssuer([CALLBACK])]
  const server = await startTestServer({ trustForwarded: true })
  const client = await server.signIn()
  await client.createDomain({ domain: HOST, skipValidation: true })
  return {
    ...{ one, two, server, client },
    async close() {
      await server.close()
      await Promise.all([one.close(), two.close()])
    },
  }
})

const formOf = (issuer: { url: string; clientId: string; clientSecret: string }) => ({
  POSTERN_OIDC_ISSUER: issuer.url,
  POSTERN_OIDC_CLIENT_ID: issuer.clientId,
  POSTERN_OIDC_CLIENT_SECRET: issuer.clientSecret,
})
async function set(form: object) {
  const answer = await lab.client.patch('/api/settings', form)
  return answer.statusCode === 200 ? 'set' : answer.json().errors
}
const open = (url: string, host: string) =>
  lab.server.call({
    method: 'GET',
    url,
    headers: { host: 'x', 'x-forwarded-host': host, 'x-forwarded-proto': 'https' },
  })
const begin = async () => String((await open('/.postern/sign-in?to=/', HOST)).headers.location)

describe('the provider that people set in the console', () => {
  it('signs visitors in from then on, without a new start', async () => {
    const { client, one } = lab
    expect((await client.get('/api/config')).json().signIn).toBeNull()
    expect(await set(formOf(one))).toBe('set')
    expect((await client.get('/api/config')).json().signIn).toEqual({
      issuer: one.url,
      redirectUrl: CALLBACK,
    })
    const [domain] = (await client.get('/api/domains')).json()
    const members = { authentication: true, allowedEmails: ['ann@example.com'] }
    expect((await client.patch(`/api/domains/${domain.id}`, members)).statusCode).toBe(200)
    expect(await begin()).toContain(`${one.url}/auth?`)
  })

  it('is replaced by another; a sign-in under way fails gently, and its code goes to nobody else', async () => {
    const { one, two } = lab
    expect(await set(formOf(one))).toBe('set')
    const state = new URL(await begin()).searchParams.get('state') ?? ''
    const asked: string[] = []
    expect(await set(formOf(two))).toBe('set')
    two.onRequest((path) => asked.push(path))
    expect(await begin()).toContain(`${two.url}/auth?`)
    asked.length = 0
    const answer = await open(`/.postern/callback?code=x&state=${encodeURIComponent(state)}`, '203.0.113.1')
    expect([answer.statusCode, answer.body]).toEqual([403, expect.stringContaining('https://a.example.com/')])
    expect(asked).toEqual([])
  })

  it('is asked before it is saved, and the reason why not is at its field', async () => {
    const { two, client } = lab
    expect(await set(formOf(two))).toBe('set')
    const away = `http://127.0.0.1:${await findFreePort()}`
    expect(await set({ ...formOf(two), POSTERN_OIDC_ISSUER: away })).toEqual([
      { field: 'POSTERN_OIDC_ISSUER', message: expect.stringMatching(/^127\.0\.0\.1:\d+ cannot be reached/) },
    ])
    expect((await client.get('/api/config')).json().signIn.issuer).toBe(two.url)
  })

  it('does not get the secret of another one', async () => {
    const { one, two } = lab
    expect(await set(formOf(two))).toBe('set')
    expect(await set({ POSTERN_OIDC_ISSUER: one.url })).toEqual([
      {
        field: 'POSTERN_OIDC_CLIENT_SECRET',
        message: 'Enter it again: the one that is stored belongs to the previous one',
      },
    ])
  })

  it('is gone when all of it is empty', async () => {
    const none = { POSTERN_OIDC_ISSUER: '', POSTERN_OIDC_CLIENT_ID: '', POSTERN_OIDC_CLIENT_SECRET: '' }
    expect(await set(none)).toBe('set')
    expect((await lab.client.get('/api/config')).json().signIn).toBeNull()
  })
})
