import { TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { createSoftPasskey } from '@postern/testkit/soft-passkey'
import { beforeEach, expect, it, vi } from 'vitest'
import { afterNextCheck } from '../../../test/after-check.ts'
import {
  type KeyedBrowser,
  RULES,
  startConsoleSignInLab,
  ticketOf,
} from '../../../test/console-sign-in-lab.ts'

const lab = fresh(startConsoleSignInLab)
const { password } = TEST_ADMIN
let provider: number
let browser: KeyedBrowser
let token: string
beforeEach(async () => {
  provider = (await lab.addProvider()).id
  browser = lab.browser()
  token = await browser.signInByPassword()
})
const post = (url: string, body: object, by = token) => browser.call('POST', url, body, by)
const begin = (body: object = { provider, password }) => post('/api/account/identities/begin', body)
const list = async () => (await browser.call('GET', '/api/account/identities', undefined, token)).json()
async function connect(account = 'bob') {
  const back = await browser.pass((await begin()).json().address, account)
  return await post('/api/account/identities', { ticket: ticketOf(back) })
}
const remove = (id: number, body: object = { password }, by = token) =>
  post(`/api/account/identities/${id}/remove`, body, by)

it('a person connects an account, signs in with it and keeps the role, and removes it', async () => {
  expect(await list()).toEqual([])
  const added = await connect()
  expect(added.statusCode).toBe(201)
  const [entry] = (await lab.admin.get('/api/history?limit=1')).json().data
  expect(entry).toMatchObject({ what: 'Example connected for signing in', actor: { name: 'admin' } })
  const [identity] = added.json()
  expect(identity).toEqual({
    ...{ id: expect.any(Number), provider: { id: provider, name: 'Example' }, email: 'bob@example.com' },
    ...{ connectedAt: expect.any(String), lastUsedAt: null, isMade: false },
  })
  // Its groups would make an editor of a new account.
  await lab.admin.patch(`/api/console-sign-in/providers/${provider}`, {
    makesAccounts: true,
    rules: [...RULES],
  })
  const { username, login } = (await browser.signIn(provider, 'bob')).json()
  expect(username).toBe('admin')
  expect((await browser.call('GET', '/api/auth/me', undefined, login.token)).json().role).toBe('admin')
  expect(await list()).toMatchObject([{ lastUsedAt: expect.any(String) }])
  // Again it is no other, and no error.
  expect((await connect()).json()).toHaveLength(1)
  expect((await remove(identity.id)).json()).toEqual([])
  expect((await remove(identity.id)).statusCode).toBe(404)
})

it('needs the password for it, and the key of a browser', async () => {
  expect((await begin({ provider, password: 'wrong' })).json().errors).toMatchObject([{ field: 'password' }])
  expect((await begin({ provider })).json().errors).toMatchObject([{ field: 'password' }])
  expect((await begin({ provider: 99, password })).statusCode).toBe(404)
  const plain = await lab.admin.post('/api/account/identities/begin', { provider, password })
  expect(plain.json().errors).toEqual([{ field: 'x-postern-key', message: 'This field is required' }])
  await connect()
  const [{ id }] = await list()
  expect((await remove(id, { password: 'wrong' })).statusCode).toBe(422)
  expect(await list()).toHaveLength(1)
})

it('takes no account of somebody else, and removes none', async () => {
  const invited = { username: 'other', role: 'viewer', reach: null }
  const other = (await lab.admin.post('/api/people', invited)).json()
  await lab.browser().signIn(provider, 'bob', other.token)
  const taken = await connect()
  expect([taken.statusCode, taken.json().message]).toEqual([
    409,
    'Somebody else here is connected with this account at Example.',
  ])
  const { id } = await lab.server.context.db
    .selectFrom('user_identities')
    .select('id')
    .executeTakeFirstOrThrow()
  expect((await remove(id)).statusCode).toBe(404)
})

it('the last way to sign in stays', async () => {
  const invited = { username: 'other', role: 'admin', reach: null }
  const other = (await lab.admin.post('/api/people', invited)).json()
  const { login } = (await browser.signIn(provider, 'bob', other.token)).json()
  const [{ id }] = (await browser.call('GET', '/api/account/identities', undefined, login.token)).json()
  const none = { password: null }
  const refused = await remove(id, none, login.token)
  expect([refused.statusCode, refused.json()]).toMatchObject([
    409,
    { code: 'in_use', message: 'You could not sign in any more. Add another way to sign in first.' },
  ])
  const passkey = createSoftPasskey('https://console.example.com')
  const now = new Date().toISOString()
  await lab.server.context.db
    .insertInto('passkeys')
    .values({
      ...{
        user_id: other.id,
        name: 'k',
        credential: passkey.id,
        public_key: '',
        counter: 0,
        transports: '[]',
      },
      ...{ host: 'console.example.com', user_handle: '', created_at: now, used_at: null },
    })
    .execute()
  expect((await remove(id, none, login.token)).statusCode).toBe(200)
  // Nor does a passkey go then, which has become the last.
  const key = await lab.server.context.db.selectFrom('passkeys').select('id').executeTakeFirstOrThrow()
  const last = await post(`/api/account/passkeys/${key.id}/remove`, none, login.token)
  expect([last.statusCode, last.json().code]).toEqual([409, 'in_use'])
})

it('a password that may not be used is no way to sign in', async () => {
  const { id: admin } = (await lab.admin.get('/api/auth/me')).json()
  const invited = { username: 'other', role: 'admin', reach: null }
  const { token: link } = (await lab.admin.post('/api/people', invited)).json()
  const form = { token: link, password: 'long enough 1' }
  token = (await browser.call('POST', '/api/invites/accept', form)).json().login.token
  const start = { provider, password: form.password }
  const back = await browser.pass((await begin(start)).json().address, 'bob')
  const [{ id }] = (await post('/api/account/identities', { ticket: ticketOf(back) })).json()
  await lab.admin.patch('/api/console-sign-in', { person: admin })
  expect((await remove(id, { password: form.password })).statusCode).toBe(409)
  await lab.admin.patch('/api/console-sign-in', { person: null })
  expect((await remove(id, { password: form.password })).statusCode).toBe(200)
})

it('connects and removes nothing with a password from before its change', async () => {
  const [identity] = (await connect()).json()
  const change = { password, newPassword: 'another long one 9', disconnect: false }
  const back = await browser.pass((await begin()).json().address, 'eve')
  const { providerLogins } = lab.server.context
  const arrive = providerLogins.arrive.bind(providerLogins)
  vi.spyOn(providerLogins, 'arrive').mockImplementationOnce(async (...args) => {
    const arrived = await arrive(...args)
    expect((await lab.admin.post('/api/account/password', change)).statusCode).toBe(200)
    return arrived
  })
  const late = await post('/api/account/identities', { ticket: ticketOf(back) })
  // The session of then has ended too.
  expect(late.statusCode).toBe(401)
  expect((await browser.signIn(provider, 'eve')).statusCode).toBe(403)

  token = await browser.signInByPassword({ ...TEST_ADMIN, password: change.newPassword })
  const again = { ...change, password: change.newPassword, newPassword: password }
  afterNextCheck(lab.server, () => lab.admin.post('/api/account/password', again))
  expect((await remove(identity.id, { password: change.newPassword })).statusCode).toBe(401)
  token = await browser.signInByPassword()
  expect(await list()).toHaveLength(1)
})
