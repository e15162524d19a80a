import { TAKE_BACK_HEADER } from '@postern/contract/history/take-back'
import { LIMITS } from '@postern/contract/limits'
import { addPerson } from '@postern/testkit/people'
import { fresh } from '@postern/testkit/shared'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type KeyedBrowser,
  RULES,
  startConsoleSignInLab,
  ticketOf,
} from '../../../test/console-sign-in-lab.ts'

const lab = fresh(startConsoleSignInLab)
let provider: number
const url = () => `/api/console-sign-in/providers/${provider}`
beforeEach(async () => {
  provider = (await lab.addProvider({ makesAccounts: true, rules: [...RULES] })).id
})
const signIn = (account: string) => lab.browser().signIn(provider, account)
type Listed = { id: number; username: string; role: string; reach: unknown }
const people = async (): Promise<Listed[]> => (await lab.admin.get('/api/people')).json()
const person = async (name: string) => (await people()).find(({ username }) => username === name)
const newest = async () => (await lab.admin.get('/api/history?limit=1')).json().data[0]

describe('nobody gets an account', () => {
  it('to whom no rule gives a role', async () => {
    const refused = await signIn('eve')
    expect(refused.statusCode).toBe(403)
    expect(refused.json()).toMatchObject({
      code: 'no_role',
      message: 'No rule here gives your account at Example access. Ask an administrator.',
    })
    expect(await people()).toHaveLength(1)
  })

  it('by a provider that makes none', async () => {
    await lab.admin.patch(url(), { makesAccounts: false })
    const refused = await signIn('bob')
    expect(refused.statusCode).toBe(403)
    expect(refused.json()).toMatchObject({
      code: 'no_account',
      message: expect.stringMatching(/^Nobody here is connected with your account at Example\./),
    })
    expect(await people()).toHaveLength(1)
  })

  it('whose name somebody has, in any case, and never becomes that person', async () => {
    const other = await addPerson(lab.server, 'BOB', 'viewer')
    lab.issuer.accounts.set('bob2', { preferred_username: 'admin', groups: ['admins'] })
    for (const account of ['bob', 'bob2']) {
      const refused = await signIn(account)
      expect(refused.statusCode).toBe(409)
      expect(refused.json().message).toMatch(/^Somebody here is called “(bob|admin)” already\./)
    }
    expect((await other.get('/api/account/identities')).json()).toEqual([])
    expect(await people()).toHaveLength(2)
  })

  it('whose address is that of a person, as a rule for it is one of verified addresses alone', async () => {
    await lab.admin.patch(url(), { rules: [{ claim: 'email', value: 'Boss@example.com', role: 'admin' }] })
    const claims = { preferred_username: 'mallory', groups: [] }
    lab.issuer.accounts.set('mallory', { ...claims, email: 'boss@example.com', email_verified: false })
    expect((await signIn('mallory')).json().code).toBe('no_role')
    lab.issuer.accounts.set('mallory', { ...claims, email: 'BOSS@example.com', email_verified: true })
    expect((await signIn('mallory')).statusCode).toBe(200)
    expect(await person('mallory')).toMatchObject({ role: 'admin' })
  })

  it('when there is no room for another', async () => {
    const now = new Date().toISOString()
    const { db } = lab.server.context
    for (let at = (await people()).length; at < LIMITS.people; at++)
      await db
        .insertInto('users')
        .values({ username: `p${at}`, role: 'viewer', created_at: now, updated_at: now })
        .execute()
    const refused = await signIn('bob')
    expect([refused.statusCode, refused.json().message]).toEqual([409, expect.stringMatching(/the limit/)])
  })
})

describe('an account that a sign-in made', () => {
  it('is called as the provider says, or by its address, in the spelling of names', async () => {
    lab.issuer.accounts.set('u1', { preferred_username: ' \u202eZo\u0308e\u0007 ', groups: ['staff'] })
    lab.issuer.accounts.set('u2', { email: 'Kim@Example.com', groups: ['staff'] })
    lab.issuer.accounts.set('u3', { preferred_username: 'node 5', groups: ['staff'] })
    expect((await signIn('u1')).json().username).toBe('Zöe')
    expect((await signIn('u2')).json().username).toBe('kim@example.com')
    // The history names programs so, and there is no other name.
    expect((await signIn('u3')).json().code).toBe('no_account')
  })

  it('is never called like another person or the installation, whatever is hidden in the name', async () => {
    const names = { shy: 'ad\u00admin', filled: 'admin\u3164', dotless: 'adm\u0131n', lined: 'admin\u0332' }
    for (const [sub, preferred_username] of Object.entries(names)) {
      lab.issuer.accounts.set(sub, { preferred_username, groups: ['staff'] })
      expect([sub, (await signIn(sub)).statusCode]).toEqual([sub, 409])
    }
    for (const [sub, preferred_username] of Object.entries({ o: 'p\u0585stern', t: 'kim (token x).' })) {
      lab.issuer.accounts.set(sub, { preferred_username, groups: ['staff'] })
      expect([sub, (await signIn(sub)).json().code]).toEqual([sub, 'no_account'])
    }
    expect(await people()).toHaveLength(1)
  })

  it('is known by its subject, whatever else changes', async () => {
    await signIn('bob')
    lab.issuer.accounts.set('bob', {
      email: 'robert@example.com',
      preferred_username: 'robert',
      groups: ['staff'],
    })
    expect((await signIn('bob')).json().username).toBe('bob')
    // And another account there that took the name is another person.
    lab.issuer.accounts.set('thief', { sub: 'thief', preferred_username: 'bob', groups: ['staff'] })
    expect((await signIn('thief')).statusCode).toBe(409)
  })

  it('gets the role of now with each sign-in, and is refused when none fits any more', async () => {
    await signIn('bob')
    lab.issuer.accounts.set('bob', { preferred_username: 'bob', groups: ['admins'] })
    const { id = 0 } = (await person('bob')) ?? {}
    const node = await lab.admin.createNode({ name: 'n' })
    const other = await lab.admin.createNode({ name: 'of others' })
    const reach = { nodes: [node.id], domains: [] }
    await lab.admin.patch(`/api/people/${id}`, { username: 'bob', role: 'editor', reach })
    expect((await signIn('bob')).statusCode).toBe(200)
    expect(await person('bob')).toMatchObject({ role: 'admin', reach: null })
    const browser = lab.browser()
    const { token } = (await browser.signIn(provider, 'bob')).json().login
    expect((await browser.call('GET', `/api/nodes/${other.id}`, undefined, token)).statusCode).toBe(200)
    expect(await newest()).toMatchObject({ what: 'role given by Example', actor: { name: 'bob', id } })
    // Another name takes no limits away.
    await lab.admin.patch(`/api/people/${id}`, { username: 'robert' })
    await lab.admin.patch(`/api/people/${id}`, { username: 'bob' })
    lab.issuer.accounts.set('bob', { preferred_username: 'bob', groups: ['staff'] })
    await signIn('bob')
    // The limits of before hold again.
    expect(await person('bob')).toMatchObject({ role: 'editor', reach })
    // Also for the sessions of before.
    const seen = await browser.call('GET', '/api/nodes', undefined, token)
    expect(seen.json().map(({ id }: { id: number }) => id)).toEqual([node.id])
    expect((await browser.call('GET', '/api/people', undefined, token)).statusCode).toBe(403)
    lab.issuer.accounts.set('bob', { preferred_username: 'bob', groups: [] })
    expect((await signIn('bob')).json().code).toBe('no_role')
  })

  it('leaves nothing to come back once a sign-in has told that no rule fits', async () => {
    const eve = (await lab.admin.post('/api/people', { username: 'kim', role: 'admin' })).json()
    const browser = lab.browser()
    const { token } = (await browser.signIn(provider, 'ann')).json().login
    const demoted = await lab.server.call({
      ...{ method: 'PATCH', url: `/api/people/${eve.id}`, payload: { role: 'viewer' } },
      headers: {
        ...{ authorization: `Bearer ${token}`, 'x-postern-key': browser.key },
        ...{ 'x-forwarded-for': '198.51.100.7', [TAKE_BACK_HEADER]: '600' },
      },
    })
    expect(demoted.statusCode, demoted.body).toBe(200)
    await browser.call('POST', '/api/auth/logout', {}, token)
    lab.issuer.accounts.set('ann', { preferred_username: 'ann', groups: [] })
    expect((await signIn('ann')).json().code).toBe('no_role')
    expect((await lab.admin.get('/api/history/pending')).json().data).toEqual([])
  })

  it('has nothing open any more once a sign-in has told that no rule fits', async () => {
    const browser = lab.browser()
    const { token } = (await browser.signIn(provider, 'bob')).json().login
    const form = { name: 'x', role: 'viewer', password: null }
    const program = lab.server.as((await browser.call('POST', '/api/tokens', form, token)).json().token)
    expect((await program.get('/api/nodes')).statusCode).toBe(200)
    lab.issuer.accounts.set('bob', { preferred_username: 'bob', groups: [] })
    expect((await signIn('bob')).json().code).toBe('no_role')
    expect((await browser.call('GET', '/api/auth/me', undefined, token)).statusCode).toBe(401)
    expect((await program.get('/api/nodes')).statusCode).toBe(403)
    expect(await newest()).toMatchObject({ what: 'access ended by Example', name: 'bob' })
  })

  it('keeps being an administrator while there is no other', async () => {
    await signIn('ann')
    const [first] = await people()
    const { db } = lab.server.context
    await db
      .updateTable('users')
      .set({ role: 'viewer' })
      .where('id', '=', first?.id ?? 0)
      .execute()
    lab.issuer.accounts.set('ann', { preferred_username: 'ann', groups: ['staff'] })
    expect((await signIn('ann')).statusCode).toBe(200)
    await db
      .updateTable('users')
      .set({ role: 'admin' })
      .where('id', '=', first?.id ?? 0)
      .execute()
    expect(await person('ann')).toMatchObject({ role: 'admin' })
    await signIn('ann')
    expect(await person('ann')).toMatchObject({ role: 'editor' })
  })

  it('that is disabled stays out', async () => {
    await signIn('bob')
    await lab.admin.patch(`/api/people/${(await person('bob'))?.id}/disable`)
    const refused = await signIn('bob')
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'disabled'])
  })
})

describe('an account that a sign-in made stays with the account that made it', () => {
  let browser: KeyedBrowser
  let token: string
  beforeEach(async () => {
    browser = lab.browser()
    token = (await browser.signIn(provider, 'ann')).json().login.token
  })
  const post = (url: string, body: object) => browser.call('POST', url, body, token)
  const begin = () => post('/api/account/identities/begin', { provider, password: null })
  const refusal = [
    409,
    'Your account was made by a sign-in at a provider, so it signs in by that one. Ask an administrator for a link to change this.',
  ]
  const told = ({ statusCode, json }: Awaited<ReturnType<typeof begin>>) => [statusCode, json().message]
  const ofAnn = async () => (await person('ann'))?.id ?? 0
  /** Leaves the rules, as an administrator allows by a link. */
  const useLink = async (account: string) => {
    const { token: link } = (await lab.admin.post(`/api/people/${await ofAnn()}/invite`)).json()
    expect((await lab.browser().signIn(provider, account, link)).statusCode).toBe(200)
  }
  const leaveCompany = () => lab.issuer.accounts.set('ann', { preferred_username: 'ann', groups: [] })

  it('and connects no other', async () => {
    const own = await browser.call('GET', '/api/account/identities', undefined, token)
    expect(own.json()).toMatchObject([{ isMade: true }])
    expect(told(await begin())).toEqual(refusal)
  })

  it('nor one whose connecting began before', async () => {
    const { db } = lab.server.context
    await sql`UPDATE users SET is_made = 0 WHERE id != 1`.execute(db)
    const back = await browser.pass((await begin()).json().address, 'eve')
    await sql`UPDATE users SET is_made = 1 WHERE id != 1`.execute(db)
    expect(told(await post('/api/account/identities', { ticket: ticketOf(back) }))).toEqual(refusal)
    expect((await signIn('eve')).json().code).toBe('no_role')
  })

  it('and is not disconnected from it by its owner', async () => {
    const { id } = await lab.server.context.db
      .selectFrom('user_identities')
      .select('id')
      .executeTakeFirstOrThrow()
    expect(told(await post(`/api/account/identities/${id}/remove`, { password: null }))).toEqual(refusal)
  })

  it('nor signs in by another that was connected before this rule', async () => {
    const { db } = lab.server.context
    const held = await db.selectFrom('user_identities').selectAll().executeTakeFirstOrThrow()
    await db
      .insertInto('user_identities')
      .values({ ...held, id: undefined, subject: 'eve', is_made_by_sign_in: 0 })
      .execute()
    const refused = await signIn('eve')
    expect([refused.statusCode, refused.json()]).toMatchObject([
      403,
      {
        code: 'no_role',
        message: 'Your account here was made by a sign-in at Example: sign in by that one.',
      },
    ])
  })

  it('until a link of an administrator makes it one that was invited', async () => {
    await useLink('ann')
    leaveCompany()
    expect((await signIn('ann')).statusCode).toBe(200)
    expect(await person('ann')).toMatchObject({ role: 'admin', identities: 1 })
    token = (await browser.signIn(provider, 'ann')).json().login.token
    expect((await begin()).statusCode).toBe(200)
  })

  it('or gives it another one', async () => {
    await useLink('eve')
    leaveCompany()
    expect((await signIn('ann')).json().code).toBe('no_role')
    expect((await signIn('eve')).json().username).toBe('ann')
  })
})
