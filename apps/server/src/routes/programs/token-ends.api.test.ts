import { MESSAGES } from '@postern/contract/messages'
import type { InvitedPerson, Person } from '@postern/contract/people/people'
import { addPerson, letIn, PASSWORD_OF_PEOPLE } from '@postern/testkit/people'
import { type Client, startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, test } from 'vitest'
import { CONFIRMED, makeApiToken } from '../../../test/programs-lab.ts'
import { RECENT_MS } from '../../core/accounts/confirmations.ts'
import { setNewPassword } from '../../core/accounts/new-password.ts'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const admin = fresh(() => server.signIn())

const FORM = { name: 'backup', role: 'viewer' }
const post = (client: Client, form: object) => client.post('/api/tokens', form)
const statusOf = async (token: string) => (await server.as(token).get('/api/auth/me')).statusCode
const mine = { password: PASSWORD_OF_PEOPLE }

/** A person with a password, who has a token. */
async function ann() {
  const person = await letIn(server, admin, { username: 'ann', role: 'editor', reach: null })
  const { token, id } = await makeApiToken(person.client, { role: 'editor', ...mine })
  expect(await statusOf(token)).toBe(200)
  return { ...person, token, tokenId: id }
}

const countOf = async (id: number) => (await admin.get(`/api/people/${id}`)).json<Person>().apiTokens
const newest = async () => (await admin.get('/api/history?limit=1')).json().data[0]

describe('making a token', () => {
  test('needs the password, which is asked for like any other', async () => {
    const none = await post(admin, FORM)
    expect([none.statusCode, none.json().errors]).toEqual([
      422,
      [{ field: 'password', message: MESSAGES.required }],
    ])
    for (let count = 0; count < 5; count++) {
      const wrong = await post(admin, { ...FORM, password: 'not this one' })
      expect(wrong.json().errors).toEqual([{ field: 'password', message: 'The password is not right.' }])
    }
    const more = await Promise.all(
      Array.from({ length: 20 }, () => post(admin, { ...FORM, password: 'guess' })),
    )
    expect(more.at(-1)?.statusCode).toBe(429)
    expect((await admin.get('/api/tokens')).json()).toEqual([])
  })

  test('so does approving a command, which goes on waiting', async () => {
    const begun = { method: 'POST', url: '/api/auth/device', payload: { client: 'laptop' } } as const
    const { user_code: code } = (await server.call(begun)).json()
    const approve = (form: object) => admin.post('/api/auth/device/approve', { ...FORM, code, ...form })
    expect((await approve({})).json().errors[0].field).toBe('password')
    expect((await approve({ password: 'not this one' })).statusCode).toBe(422)
    expect((await approve(CONFIRMED)).statusCode).toBe(201)
  })

  test('and without a password a sign-in of the last ten minutes', async () => {
    const eve = await addPerson(server, 'eve', 'viewer')
    server.now += RECENT_MS
    expect((await post(eve, FORM)).statusCode).toBe(201)
    server.now += 1
    for (const [url, form] of [
      ['/api/tokens', FORM],
      ['/api/account/authenticator', {}],
      ['/api/account/recovery-codes', { password: 'anything' }],
    ] as const) {
      const late = await eve.post(url, form)
      expect([late.statusCode, late.json().code]).toEqual([403, 'sign_in_again'])
      expect(late.json().message).toBe('Sign in again to do this.')
    }
  })
})

describe('tokens end', () => {
  test('with the password, unless the person keeps them', async () => {
    const { client, token } = await ann()
    const change = (form: object) => client.post('/api/account/password', form)
    const next = { password: 'a new password' }
    const kept = await change({ ...mine, newPassword: next.password, endTokens: false })
    expect(kept.json()).toEqual({ ended: 0, endedTokens: 0, removedPasskeys: 0, disconnected: 0 })
    expect(await statusOf(token)).toBe(200)
    const other = await makeApiToken(client, { role: 'viewer', ...next })
    expect((await change({ ...next, newPassword: 'another one 9' })).json()).toEqual({
      ended: 0,
      endedTokens: 2,
      removedPasskeys: 0,
      disconnected: 0,
    })
    expect([await statusOf(token), await statusOf(other.token)]).toEqual([403, 403])
    const { what, records } = await newest()
    expect(what).toBe('changed the password')
    expect(records.filter(({ kind }: { kind: string }) => kind === 'api-token')).toHaveLength(2)
  })

  test('with a link that sets another', async () => {
    const { id, token } = await ann()
    const link = (await admin.post(`/api/people/${id}/invite`)).json<InvitedPerson>()
    expect(await statusOf(token)).toBe(200)
    const payload = { token: link.token, password: 'a new password' }
    expect((await server.call({ method: 'POST', url: '/api/invites/accept', payload })).statusCode).toBe(200)
    expect(await statusOf(token)).toBe(403)
  })

  test('with a new password from the host', async () => {
    const { token } = await makeApiToken(admin)
    await setNewPassword(server.context.db, 'chosen-by-a-person', { memory: 8, passes: 1 })
    expect(await statusOf(token)).toBe(403)
  })

  test('with the account, and do not come back with it', async () => {
    const { id, token } = await ann()
    await admin.patch(`/api/people/${id}/disable`)
    expect(await statusOf(token)).toBe(403)
    await admin.patch(`/api/people/${id}/enable`)
    expect(await statusOf(token)).toBe(403)
    const eve = await addPerson(server, 'eve', 'viewer')
    const theirs = await makeApiToken(eve, { role: 'viewer' })
    await admin.delete(`/api/people/${eve.userId}`)
    expect(await statusOf(theirs.token)).toBe(401)
  })

  test('by an administrator, who sees how many there are', async () => {
    const { id, client, token, tokenId } = await ann()
    await makeApiToken(client, { role: 'viewer', expireAt: '2026-11-22T00:00:00Z', ...mine })
    expect(await countOf(id)).toBe(2)
    server.now += 2 * 86_400_000
    expect(await countOf(id)).toBe(1)
    expect((await client.delete(`/api/people/${id}/tokens`)).statusCode).toBe(403)
    expect((await admin.delete(`/api/people/${id}/tokens`)).json()).toEqual({ ended: 1 })
    expect(await newest()).toMatchObject({
      what: 'API tokens ended',
      name: 'ann',
      records: [{ kind: 'api-token', id: tokenId, name: 'backup' }],
    })
    expect([await statusOf(token), await countOf(id)]).toEqual([403, 0])
    expect((await admin.delete(`/api/people/${id}/tokens`)).json()).toEqual({ ended: 0 })
    expect((await admin.delete('/api/people/77/tokens')).statusCode).toBe(404)
  })
})
