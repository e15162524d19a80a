import type { ConsoleProvider } from '@postern/contract/sign-in/console-providers'
import { startLab } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { visit } from '@postern/testkit/visitor'
import { expect, test } from 'vitest'
import { CALLBACK, startSignInLab } from './sign-in-lab.ts'
import { ISSUER, passIssuer } from './sign-in-steps.ts'

const CONSOLE = 'https://203.0.113.1'
const [KEY, OTHER] = ['00112233'.repeat(8), '44556677'.repeat(8)]

const lab = shared(startLab)
const at = shared(() => startSignInLab(lab))
const provider = shared(async () => {
  const form = {
    ...{ name: 'Example', issuer: ISSUER, clientId: 'postern', clientSecret: 'a secret of the test' },
    makesAccounts: true,
    rules: [{ claim: 'email', value: 'ann@example.com', role: 'editor' }],
  }
  const answer = await at.installation.api.call('POST', '/api/console-sign-in/providers', form)
  return answer.json as ConsoleProvider
})

/** A call of a browser with this key, from another host. */
async function ask(
  path: string,
  { key = KEY, token = '', body }: { key?: string; token?: string; body?: object },
) {
  const answer = await visit(lab.visitor, CONSOLE + path, {
    args: [
      ...(body ? ['--json', JSON.stringify(body)] : []),
      ...['-H', `x-postern-key: ${key}`, ...(token ? ['-H', `authorization: Bearer ${token}`] : [])],
    ],
  })
  const isJson = /content-type: application\/json/i.test(answer.headers)
  return { status: answer.status, json: isJson ? JSON.parse(answer.body) : undefined }
}

/** Goes to the provider and back like a person. @returns the code, and what the console's callback leads to */
async function passProvider(
  account: 'ann' | 'una',
  { invite = null, meanwhile }: { invite?: string | null; meanwhile?: () => Promise<void> } = {},
) {
  const begun = await ask('/api/auth/provider', { body: { provider: provider.id, invite } })
  expect(begun.status).toBe(200)
  const page = await at.newVisitor()
  const came = page.waitForResponse((response) => response.url().startsWith(CALLBACK))
  await page.goto(begun.json.address)
  await meanwhile?.()
  await passIssuer(page, account)
  const response = await came
  const location = (await response.headerValue('location')) ?? ''
  const { searchParams } = new URL(response.url())
  await page.context().close()
  const [path, ticket = ''] = location.split('#ticket=')
  return { path, ticket, code: searchParams.get('code') ?? '', state: searchParams.get('state') ?? '' }
}

const finish = (ticket: string, key = KEY) => ask('/api/auth/provider/finish', { key, body: { ticket } })

test('an account at a provider signs in to the console at the public address, in its own browser alone', async () => {
  const ways = await ask('/api/auth/ways', {})
  expect(ways.json).toEqual({ providers: [{ id: provider.id, name: 'Example' }], origin: CONSOLE })
  const { path, ticket, code, state } = await passProvider('ann')
  expect([path, code.length > 10, state.length > 100]).toEqual(['/login', true, true])
  expect(await finish(ticket, OTHER)).toMatchObject({ status: 401, json: { code: 'sign_in_over' } })
  const { json } = await finish(ticket)
  expect(json.username).toBe('ann@example.com')
  const { token } = json.login
  expect((await ask('/api/auth/me', { token })).json).toMatchObject({ role: 'editor' })
  expect((await ask('/api/auth/me', { token, key: OTHER })).status).toBe(401)
  expect((await finish(ticket)).status).toBe(401)
  // Nor is anything of it kept: not in a log, not among requests, not in the database.
  const findFiles = async (text: string) =>
    (await lab.server.run('grep', '-rlaF', '--exclude-dir=upstreams', text, at.installation.dataDir)).stdout
  expect(await findFiles('account made by sign-in at Example')).toContain('postern.db')
  for (const secret of [ticket, code, state, KEY, token, 'a secret of the test'])
    expect(await findFiles(secret), secret).toBe('')
}, 120_000)

test('a sign-in to the console goes on after a restart of the server, and its ticket works once all the same', async () => {
  const restart = async () => {
    await at.installation.server.stop()
    await at.installation.startServer()
    await at.isLive()
  }
  const { ticket } = await passProvider('ann', { meanwhile: restart })
  expect((await finish(ticket)).status).toBe(200)
  await restart()
  expect(await finish(ticket)).toMatchObject({ status: 401, json: { code: 'sign_in_over' } })
}, 180_000)

test('an address that the provider has not verified fits no rule', async () => {
  const { ticket } = await passProvider('una')
  expect(await finish(ticket)).toMatchObject({ status: 403, json: { code: 'no_role' } })
}, 120_000)

test('an account that somebody else connected opens nothing at the public address once an administrator has taken it away', async () => {
  const { api } = at.installation
  const form = { username: 'kim', role: 'viewer', reach: null }
  const invited = (await api.call('POST', '/api/people', form)).json as { id: number; token: string }
  const { json } = await finish((await passProvider('una', { invite: invited.token })).ticket)
  expect(json.username).toBe('kim')
  const { token } = json.login
  expect((await ask('/api/auth/me', { token })).status).toBe(200)
  const taken = await api.call('DELETE', `/api/people/${invited.id}/identities`)
  expect(taken.json).toEqual({ disconnected: 1 })
  expect((await ask('/api/auth/me', { token })).status).toBe(401)
  expect((await finish((await passProvider('una')).ticket)).status).toBe(403)
}, 120_000)

test('an account that a sign-in made connects no other at the public address', async () => {
  const { json } = await finish((await passProvider('ann')).ticket)
  const { token } = json.login
  const body = { provider: provider.id, password: null }
  expect((await ask('/api/account/identities/begin', { token, body })).status).toBe(409)
}, 120_000)

test('where passwords are switched off, a right one opens nothing at the public address', async () => {
  const { api, env } = at.installation
  const form = { username: 'bob', role: 'admin', reach: null }
  const { token } = (await api.call('POST', '/api/people', form)).json as { token: string }
  const password = 'long enough 1'
  const login = async (body: object) => await ask('/api/auth/login', { body })
  expect((await ask('/api/invites/accept', { body: { token, password } })).status).toBe(200)
  expect((await login({ username: 'bob', password })).status).toBe(200)
  await api.call('PATCH', '/api/console-sign-in', { person: 1 })
  expect(await login({ username: 'bob', password })).toMatchObject({
    status: 403,
    json: { code: 'password_off' },
  })
  expect((await login({ username: 'bob', password: 'wrong' })).json.code).toBe('credentials')
  const own = { username: 'admin', password: env.POSTERN_ADMIN_PASSWORD }
  expect((await login(own)).status).toBe(200)
  await api.call('PATCH', '/api/console-sign-in', { person: null })
})
