import type { Client } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { createSoftPasskey } from '@postern/testkit/soft-passkey'
import { beforeEach, expect, it } from 'vitest'
import { type KeyedBrowser, RULES, startConsoleSignInLab } from '../../../test/console-sign-in-lab.ts'

const lab = fresh(startConsoleSignInLab)
let provider: number
let browser: KeyedBrowser
beforeEach(async () => {
  provider = (await lab.addProvider({ makesAccounts: true, rules: [...RULES] })).id
  browser = lab.browser()
})
const remove = () => lab.admin.delete(`/api/console-sign-in/providers/${provider}`)
const works = async (program: Client) => (await program.get('/api/nodes')).statusCode === 200
const person = async (name: string) =>
  (await lab.admin.get('/api/people')).json().find(({ username }: { username: string }) => username === name)

async function makeProgram(account: string, invite?: string): Promise<Client> {
  const { token } = (await browser.signIn(provider, account, invite)).json().login
  const form = { name: 'x', role: 'viewer', password: null }
  const program = lab.server.as((await browser.call('POST', '/api/tokens', form, token)).json().token)
  expect(await works(program)).toBe(true)
  return program
}

async function invite(username: string): Promise<{ id: number; token: string }> {
  return (await lab.admin.post('/api/people', { username, role: 'editor', reach: null })).json()
}

async function addPasskey(user_id: number) {
  const passkey = createSoftPasskey('https://console.example.com')
  const named = { user_id, name: 'k', credential: passkey.id, host: 'console.example.com' }
  const unused = { public_key: '', counter: 0, transports: '[]', user_handle: '', used_at: null }
  await lab.server.context.db
    .insertInto('passkeys')
    .values({ ...named, ...unused, created_at: new Date().toISOString() })
    .execute()
}

it('with a provider go the API tokens of people who came by it alone', async () => {
  const { token } = await invite('kim')
  const program = await makeProgram('eve', token)
  await remove()
  expect((await program.get('/api/nodes')).json()).toMatchObject({ code: 'token_revoked' })
  expect(await person('kim')).toMatchObject({ apiTokens: 0, identities: 0, state: 'active' })
})

it('and of those whose account it made, whatever other way in they have', async () => {
  const program = await makeProgram('ann')
  await addPasskey((await person('ann')).id)
  await remove()
  expect(await works(program)).toBe(false)
})

it('but not of others, who have another way in', async () => {
  const kim = await invite('kim')
  const program = await makeProgram('eve', kim.token)
  await addPasskey(kim.id)
  await remove()
  expect(await works(program)).toBe(true)
})

it('nor of those whose password may be used; where it may not, it is no way in', async () => {
  const second = await lab.addProvider({ name: 'Second' })
  const kim = await invite('kim')
  const program = await makeProgram('eve', kim.token)
  await lab.server.context.db
    .updateTable('users')
    .set({ password_hash: 'x' })
    .where('id', '=', kim.id)
    .execute()
  await lab.admin.patch('/api/console-sign-in', { person: 1 })
  await remove()
  expect(await works(program)).toBe(false)
  provider = second.id
  await lab.admin.patch('/api/console-sign-in', { person: null })
  const { token } = (await lab.admin.post(`/api/people/${kim.id}/invite`)).json()
  const again = await makeProgram('eve', token)
  await lab.server.context.db
    .updateTable('users')
    .set({ password_hash: 'x' })
    .where('id', '=', kim.id)
    .execute()
  await remove()
  expect(await works(again)).toBe(true)
})
