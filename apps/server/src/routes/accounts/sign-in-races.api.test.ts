import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test, vi } from 'vitest'
import { afterNextCheck } from '../../../test/after-check.ts'
import { factorsLab } from '../../../test/factors-lab.ts'
import { STEP_MS } from '../../core/accounts/factors/totp.ts'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const client = fresh(() => server.signIn())
const lab = fresh(async () => factorsLab(server))

const NEW = 'another long one 9'
const change = async () => {
  const form = { password: TEST_ADMIN.password, newPassword: NEW }
  expect((await client.post('/api/account/password', form)).statusCode).toBe(200)
}

const sessions = async () => (await server.context.db.selectFrom('sessions').select('id').execute()).length

test('a sign-in with the old password does not outlive its change', async () => {
  expect(await sessions()).toBe(1)
  afterNextCheck(server, change)
  const late = await lab.login()
  expect([late.statusCode, late.json().code]).toEqual([401, 'sign_in_over'])
  expect(await sessions()).toBe(1)
  const again = await lab.send('/api/auth/login', { ...TEST_ADMIN, password: NEW })
  expect(again.statusCode).toBe(200)
})

test('nor does one that goes on to a second factor', async () => {
  const app = await lab.addApp(client)
  server.now += STEP_MS
  afterNextCheck(server, change)
  const { ticket } = await lab.firstStep()
  const late = await lab.giveCode(ticket, app.code())
  expect([late.statusCode, late.json().code]).toEqual([401, 'sign_in_over'])
  expect(await sessions()).toBe(1)
})

test('a person who is disabled meanwhile stays out', async () => {
  afterNextCheck(server, async () => {
    await server.context.db.updateTable('users').set({ is_disabled: 1 }).execute()
  })
  expect((await lab.login()).statusCode).toBe(401)
})

test('a passkey that is removed while it answers lets nobody in', async () => {
  const { passkey } = await lab.addPasskey(client)
  const { db, factorLimits } = server.context
  const begun = (await lab.send('/api/auth/passkey/challenge', {})).json()
  const take = factorLimits.take.bind(factorLimits)
  vi.spyOn(factorLimits, 'take').mockImplementationOnce((step) => {
    const succeed = take(step)
    return () => {
      succeed()
      void db.deleteFrom('passkeys').execute()
    }
  })
  const late = await lab.givePasskey(begun.ticket, passkey.answer(begun.passkey))
  expect([late.statusCode, late.json().code]).toEqual([401, 'sign_in_over'])
  expect(await sessions()).toBe(1)
})
