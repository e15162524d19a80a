import { addPerson, letIn, PASSWORD_OF_PEOPLE } from '@postern/testkit/people'
import { TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, it } from 'vitest'
import { startConsoleSignInLab } from '../../../test/console-sign-in-lab.ts'
import { setNewPassword } from '../../core/accounts/new-password.ts'

const lab = fresh(startConsoleSignInLab)
const setRule = (person: number | null) => lab.admin.patch('/api/console-sign-in', { person })
const adminId = async (): Promise<number> => (await lab.admin.get('/api/auth/me')).json().id
const login = (username: string, password = PASSWORD_OF_PEOPLE) =>
  lab.browser().call('POST', '/api/auth/login', { username, password })
/** A provider, and the first administrator as the only one who may use a password. */
const switchOff = async () => {
  await lab.addProvider()
  expect((await setRule(await adminId())).statusCode).toBe(200)
}

describe('one person alone may use a password', () => {
  it('and must be an administrator who is enabled and has one', async () => {
    await lab.addProvider()
    const { id: editor } = await letIn(lab.server, lab.admin, { username: 'ed', role: 'editor', reach: null })
    const { userId: never } = await addPerson(lab.server, 'never', 'admin')
    const { id: disabled } = await letIn(lab.server, lab.admin, {
      username: 'di',
      role: 'admin',
      reach: null,
    })
    await lab.admin.patch(`/api/people/${disabled}/disable`)
    for (const person of [editor, never, disabled, 99]) {
      const refused = await setRule(person)
      expect([refused.statusCode, refused.json().errors]).toEqual([
        422,
        [{ field: 'person', message: 'Choose an administrator who is enabled and has a password.' }],
      ])
    }
  })

  it('only while there is a provider, of which the last one stays', async () => {
    const refused = await setRule(await adminId())
    expect([refused.statusCode, refused.json().message]).toEqual([
      409,
      expect.stringMatching(/^Add a provider first/),
    ])
    await switchOff()
    const two = await lab.addProvider({ name: 'Two' })
    const url = (id: number) => `/api/console-sign-in/providers/${id}`
    expect((await lab.admin.delete(url(two.id))).statusCode).toBe(200)
    const last = await lab.admin.delete(url(1))
    expect([last.statusCode, last.json().code]).toEqual([409, 'in_use'])
    await setRule(null)
    expect((await lab.admin.delete(url(1))).statusCode).toBe(200)
  })

  it('and everybody else is refused, after the password was found right, in words that name the ways', async () => {
    await letIn(lab.server, lab.admin, { username: 'ed', role: 'editor', reach: null })
    await switchOff()
    expect((await lab.admin.get('/api/console-sign-in')).json().passwordOnlyFor).toEqual({
      ...{ id: await adminId(), username: 'admin' },
    })
    const refused = await login('ed')
    expect([refused.statusCode, refused.json()]).toMatchObject([
      403,
      { code: 'password_off', message: 'Passwords are switched off here. Sign in by Example or a passkey.' },
    ])
    for (const [name, password] of [
      ['ed', 'wrong'],
      ['nobody', 'wrong'],
    ] as const)
      expect((await login(name, password)).json()).toMatchObject({ code: 'credentials' })
    expect((await login(TEST_ADMIN.username, TEST_ADMIN.password)).statusCode).toBe(200)
    await setRule(null)
    expect((await login('ed')).statusCode).toBe(200)
  })

  it('and a link offers others no password, but a provider', async () => {
    await switchOff()
    const form = { username: 'bob', role: 'viewer', reach: null }
    const { token } = (await lab.admin.post('/api/people', form)).json()
    const browser = lab.browser()
    const read = await browser.call('POST', '/api/invites/read', { token })
    expect(read.json()).toMatchObject({ username: 'bob', mayUsePassword: false })
    const accept = { token, password: PASSWORD_OF_PEOPLE }
    const refused = await browser.call('POST', '/api/invites/accept', accept)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'password_off'])
    expect((await browser.signIn(1, 'bob', token)).statusCode).toBe(200)
    // The one person gets in by a link as ever.
    const other = await addPerson(lab.server, 'other', 'admin')
    const reset = (await other.post(`/api/people/${await adminId()}/invite`)).json().token
    expect((await browser.call('POST', '/api/invites/read', { token: reset })).json().mayUsePassword).toBe(
      true,
    )
    const own = await browser.call('POST', '/api/invites/accept', { ...accept, token: reset })
    expect(own.json()).toMatchObject({ username: 'admin', login: { token: expect.any(String) } })
  })

  it('and can be neither disabled, deleted nor demoted, nor lose the password by a link', async () => {
    const other = await addPerson(lab.server, 'other', 'admin')
    await letIn(lab.server, lab.admin, { username: 'second', role: 'admin', reach: null })
    await switchOff()
    const url = `/api/people/${await adminId()}`
    const form = { username: 'admin', role: 'editor', reach: null }
    for (const answer of [
      await lab.admin.patch(`${url}/disable`),
      await lab.admin.patch(url, form),
      await lab.admin.delete(url),
    ])
      expect([answer.statusCode, answer.json()]).toMatchObject([
        409,
        { code: 'in_use', message: expect.stringMatching(/^This is the one person who may use a password/) },
      ])
    const reset = (await other.post(`${url}/invite`)).json().token
    expect((await lab.browser().signIn(1, 'ann', reset)).statusCode).toBe(200)
    expect((await login(TEST_ADMIN.username, TEST_ADMIN.password)).statusCode).toBe(200)
  })

  it('while the account page still asks others for theirs', async () => {
    const { client } = await letIn(lab.server, lab.admin, { username: 'ed', role: 'editor', reach: null })
    await switchOff()
    const begun = await client.post('/api/account/authenticator', { password: PASSWORD_OF_PEOPLE })
    expect(begun.statusCode).toBe(200)
    expect((await client.post('/api/account/authenticator', { password: 'wrong' })).statusCode).toBe(422)
  })

  it('which stands in the history', async () => {
    await switchOff()
    const [{ what, records }] = (await lab.admin.get('/api/history?limit=1')).json().data
    expect([what, records]).toMatchObject([
      'passwords switched off but for one person',
      [{ kind: 'setting', name: 'passwordRule', before: { person: null }, after: { person: 'admin' } }],
    ])
  })
})

it('npm run password lets an administrator in whoever was the one', async () => {
  const { id } = await letIn(lab.server, lab.admin, { username: 'second', role: 'admin', reach: null })
  await lab.addProvider()
  await setRule(id)
  expect((await login(TEST_ADMIN.username, TEST_ADMIN.password)).json().code).toBe('password_off')
  const { db } = lab.server.context
  const made = await setNewPassword(db, 'a new password 1', { memory: 8, passes: 1 })
  expect(made?.username).toBe('admin')
  expect((await login('admin', 'a new password 1')).statusCode).toBe(200)
  expect((await login('second')).json().code).toBe('password_off')
})
