import { LIMITS } from '@postern/contract/limits'
import { type OidcIssuer, signInAt, startOidcIssuer } from '@postern/testkit/fakes/oidc-issuer'
import { findFreePort } from '@postern/testkit/port'
import { duringTest, fresh } from '@postern/testkit/shared'
import { beforeEach, describe, expect, it } from 'vitest'
import { providerForm, RULES, startConsoleSignInLab } from '../../../test/console-sign-in-lab.ts'
import { CALLBACK } from '../../../test/sign-in-lab.ts'

const lab = fresh(startConsoleSignInLab)
const ALL = '/api/console-sign-in/providers'
const post = (form: object, by: OidcIssuer = lab.issuer) =>
  lab.admin.post(ALL, { ...providerForm(by), ...form })
const newest = async () => (await lab.admin.get('/api/history?limit=1')).json().data[0]
const errors = (answer: { json(): { errors: unknown } }) => answer.json().errors

describe('a new provider', () => {
  it('is saved without its secret in any answer, and stands in the history', async () => {
    const made = await post({ makesAccounts: true, rules: RULES })
    expect(made.statusCode).toBe(201)
    expect(made.json()).toEqual({
      ...{ id: 1, name: 'Example', issuer: lab.issuer.url, clientId: 'postern', makesAccounts: true },
      ...{ rules: RULES, people: 0, created_at: expect.any(String), updated_at: expect.any(String) },
    })
    const all = await lab.admin.get('/api/console-sign-in')
    expect(all.json()).toEqual({ providers: [made.json()], passwordOnlyFor: null, redirectUrl: CALLBACK })
    const { what, records } = await newest()
    expect([what, records[0].kind, records[0].after]).toEqual([
      'sign-in provider added',
      'provider',
      expect.objectContaining({ clientSecret: 'changed', makesAccounts: true, rules: RULES }),
    ])
    const { db } = lab.server.context
    const stored = await db.selectFrom('console_providers').selectAll().execute()
    expect(JSON.stringify([stored, records, all.json()])).not.toContain(lab.issuer.clientSecret)
  })

  it('is refused at its fields', async () => {
    expect(errors(await post({ clientSecret: null }))).toEqual([
      { field: 'clientSecret', message: 'This field is required' },
    ])
    expect(errors(await post({ issuer: 'http://id.example.com' }))).toMatchObject([{ field: 'issuer' }])
    expect(errors(await post({ makesAccounts: true }))).toMatchObject([{ field: 'rules' }])
    const wrong = [{ claim: '', value: 'x', role: 'root' }]
    expect(errors(await post({ rules: wrong }))).toMatchObject([
      { field: 'rules.0.claim' },
      { field: 'rules.0.role' },
    ])
    const claims = ['groups', 'email', 'roles', 'tid']
    const anyTenant = claims.map((claim) => ({ claim, value: 'x', role: 'admin' }))
    expect(errors(await post({ issuer: 'microsoft', rules: anyTenant }))).toEqual(
      [0, 2].map((at) => ({
        field: `rules.${at}.claim`,
        message: expect.stringMatching(/everybody who has a tenant/),
      })),
    )
    const nobody = `http://127.0.0.1:${await findFreePort()}`
    expect(errors(await post({ issuer: nobody }))).toEqual([
      { field: 'issuer', message: expect.stringMatching(/cannot be reached \(ECONNREFUSED\)/) },
    ])
    await lab.addProvider()
    const taken = await post({ name: 'EXAMPLE' })
    expect([taken.statusCode, errors(taken)]).toEqual([
      409,
      [{ field: 'name', message: 'A provider has this name already. Choose another one.' }],
    ])
  })

  it('is one of ten', async () => {
    for (let at = 0; at < LIMITS.consoleProviders; at++) await lab.addProvider({ name: `P${at}` })
    expect((await post({})).statusCode).toBe(409)
  })
})

describe('a provider', () => {
  let url: string
  beforeEach(async () => {
    url = `${ALL}/${(await lab.addProvider()).id}`
  })
  const signsIn = async () => (await lab.browser().signIn(1, 'bob')).json().code

  it('keeps its secret while its address stays, and is told what is stale', async () => {
    const before = (await lab.admin.get('/api/console-sign-in')).json().providers[0]
    const renamed = await lab.admin.patch(url, { name: 'Ours', updated_at: before.updated_at })
    expect(renamed.json()).toMatchObject({ name: 'Ours', issuer: lab.issuer.url })
    expect((await newest()).records[0]).toMatchObject({
      before: { name: 'Example' },
      after: { name: 'Ours' },
    })
    expect(await signsIn()).toBe('no_account')
    const stale = await lab.admin.patch(url, { name: 'Theirs', updated_at: before.updated_at })
    expect([stale.statusCode, stale.json().code]).toEqual([409, 'stale'])
    await lab.admin.patch(url, { clientSecret: 'another' })
    expect((await newest()).records[0].after).toEqual({ clientSecret: 'changed' })
    expect((await lab.admin.patch(`${ALL}/99`, { name: 'x' })).statusCode).toBe(404)
  })

  it('at another address needs its secret again, and its people are others', async () => {
    await lab.admin.patch(url, { makesAccounts: true, rules: RULES })
    expect((await lab.browser().signIn(1, 'bob')).statusCode).toBe(200)
    const other = await duringTest(() => startOidcIssuer([CALLBACK]))
    expect(errors(await lab.admin.patch(url, { issuer: other.url }))).toEqual([
      { field: 'clientSecret', message: expect.stringMatching(/never sent to another server/) },
    ])
    const moved = await lab.admin.patch(url, { issuer: other.url, clientSecret: other.clientSecret })
    expect(moved.statusCode).toBe(200)
    other.accounts.set('bob', { preferred_username: 'bobby', groups: ['staff'] })
    const browser = lab.browser()
    const back = await signInAt(other, await browser.begin(1), 'bob')
    const arrived = await browser.call('GET', back.pathname + back.search)
    const ticket = String(arrived.headers.location).split('=')[1] ?? ''
    // The same subject of another issuer is another person.
    expect((await browser.finish(ticket)).json().username).toBe('bobby')
  })

  it('is deleted with its connections and the sessions that it began, and no others', async () => {
    await lab.admin.patch(url, { makesAccounts: true, rules: RULES })
    const browser = lab.browser()
    const { token } = (await browser.signIn(1, 'ann')).json().login
    const own = await browser.signInByPassword()
    const ended: number[] = []
    const stop = lab.server.context.bus.listen((hint) => {
      if (hint.kind === 'session-ended') ended.push(hint.sessionId)
    })
    expect((await lab.admin.delete(url)).json()).toEqual({ id: 1 })
    stop()
    expect(ended).toHaveLength(1)
    expect((await browser.call('GET', '/api/auth/me', undefined, token)).statusCode).toBe(401)
    expect((await browser.call('GET', '/api/auth/me', undefined, own)).statusCode).toBe(200)
    const { db } = lab.server.context
    expect(await db.selectFrom('user_identities').selectAll().execute()).toEqual([])
    const { records } = await newest()
    expect(records.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['person', 'provider'])
    expect((await lab.admin.delete(url)).statusCode).toBe(404)
  })

  it('stays while no administrator could sign in without it', async () => {
    await lab.admin.patch(url, { makesAccounts: true, rules: RULES })
    await lab.browser().signIn(1, 'ann')
    const { db } = lab.server.context
    await db.updateTable('users').set({ password_hash: null }).execute()
    const refused = await lab.admin.delete(url)
    expect([refused.statusCode, refused.json()]).toMatchObject([
      409,
      { code: 'in_use', message: expect.stringMatching(/^No administrator could sign in any more/) },
    ])
    expect((await lab.admin.get('/api/console-sign-in')).json().providers).toMatchObject([{ people: 1 }])
  })

  it('works with its stored secret after a restart', async () => {
    await lab.server.restart()
    expect(await signsIn()).toBe('no_account')
  })

  it('cannot be taken back from the history, as the secret would be gone', async () => {
    await lab.admin.delete(url)
    const { revision } = await newest()
    const undone = await lab.admin.post(`/api/history/${revision}/undo`)
    expect([undone.statusCode, undone.json().message]).toEqual([
      409,
      expect.stringMatching(/^This is about who may come in/),
    ])
  })
})

describe('a trial of a form', () => {
  const path = '/api/console-sign-in/trial'
  const begin = (form: object, id: number | null = null) =>
    lab.admin.post(path, { id, form: { ...providerForm(lab.issuer), ...form } })
  const preview = async (rules: object[]) =>
    (await lab.admin.post('/api/console-sign-in/preview', { rules })).json()

  it('shows the claims before anything is saved, and what rules make of them', async () => {
    expect(await preview([...RULES])).toEqual({ account: null, role: null, rule: null })
    const begun = await begin({})
    const back = await signInAt(lab.issuer, begun.json().address, 'ann')
    const page = await lab.browser().call('GET', back.pathname + back.search)
    expect(page.body).toContain('The result is in the console')
    expect(page.headers).not.toHaveProperty('location')
    const trial = (await lab.admin.get('/api/sign-in/trial')).json()
    expect(trial).toMatchObject({ state: 'done', account: { email: 'ann@example.com', doubt: null } })
    expect(trial.account.claims).toContainEqual({ name: 'groups', value: '["staff","admins"]' })
    expect(await preview([...RULES])).toEqual({ account: trial.account, role: 'admin', rule: 0 })
    expect(await preview([{ claim: 'groups', value: 'x', role: 'viewer' }])).toMatchObject({
      role: null,
      rule: null,
    })
    // Only for the session that tried, and it opened nothing.
    const other = await lab.server.signIn()
    expect((await other.post('/api/console-sign-in/preview', { rules: [] })).json().account).toBeNull()
    expect((await lab.admin.get('/api/people')).json()).toHaveLength(1)
  })

  it('takes the stored secret only for the stored address', async () => {
    const { id } = await lab.addProvider()
    expect((await begin({ clientSecret: null }, id)).statusCode).toBe(200)
    expect(errors(await begin({ clientSecret: null }))).toMatchObject([{ field: 'form.clientSecret' }])
    const moved = await begin({ clientSecret: null, issuer: 'https://elsewhere.example.com' }, id)
    expect(errors(moved)).toEqual([
      { field: 'form.clientSecret', message: expect.stringMatching(/never sent to another server/) },
    ])
    expect((await begin({}, 99)).statusCode).toBe(404)
  })

  it('of a provider that cannot be reached says so', async () => {
    const answer = await begin({ issuer: `http://127.0.0.1:${await findFreePort()}` })
    expect([answer.statusCode, answer.json().message]).toEqual([
      503,
      expect.stringMatching(/cannot be reached/),
    ])
  })
})
