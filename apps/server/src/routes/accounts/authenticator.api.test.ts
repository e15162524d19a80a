import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { factorsLab } from '../../../test/factors-lab.ts'
import { STEP_MS } from '../../core/accounts/factors/totp.ts'

const server = fresh(() => startTestServer({ now: Date.parse('2026-11-21T12:00:00Z') }))
const client = fresh(() => server.signIn())
const lab = fresh(async () => factorsLab(server))

test('an account without a second factor signs in as ever', async () => {
  expect((await lab.login()).json()).toEqual({ token: expect.stringMatching(/^pts_/), expires_in: 604_800 })
})

test('an app counts once it has given a code, and then the password alone opens nothing', async () => {
  const begun = (await lab.as(client, 'POST', '/api/account/authenticator', lab.password)).json()
  expect(begun.secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(begun.uri).toContain(`secret=${begun.secret}&issuer=Postern`)
  expect((await lab.login()).json()).toHaveProperty('token')
  const wrong = { ticket: begun.ticket, code: '000000' }
  const refused = await lab.as(client, 'POST', '/api/account/authenticator/confirm', wrong)
  expect(refused.json().errors[0].field).toBe('code')
  expect((await lab.login()).json()).toHaveProperty('token')
  const app = await lab.addApp(client)
  const step = await lab.firstStep()
  expect(step).toMatchObject({ kinds: ['code', 'recovery'], expires_in: 300, passkey: null })
  server.now += STEP_MS
  expect((await lab.giveCode(step.ticket, app.code())).json()).toHaveProperty('token')
})

test('the ticket of a first step opens nothing but the second', async () => {
  await lab.addApp(client)
  const { ticket } = await lab.firstStep()
  for (const url of [
    '/api/auth/me',
    '/api/nodes',
    '/api/account/factors',
    `/api/hints/stream?token=${ticket}`,
  ])
    expect((await server.as(ticket).get(url)).statusCode).toBe(401)
  const added = await lab.as(client, 'POST', '/api/account/authenticator/confirm', { ticket, code: '000000' })
  expect(added.json().errors[0].field).toBe('ticket')
})

test('a code works once, for its step and the ones beside it', async () => {
  const app = await lab.addApp(client)
  const tryCode = async (code: string) =>
    (await lab.giveCode((await lab.firstStep()).ticket, code)).statusCode
  // The one that set it up.
  expect(await tryCode(app.code())).toBe(401)
  server.now += 10 * STEP_MS
  expect(await tryCode(app.code(-2))).toBe(401)
  expect(await tryCode(app.code(2))).toBe(401)
  const early = app.code(-1)
  expect(await tryCode(early)).toBe(200)
  expect(await tryCode(early)).toBe(401)
  expect(await tryCode(app.code(1))).toBe(200)
  // A newer one was used.
  expect(await tryCode(app.code())).toBe(401)
})

test('a right code opens one session, also when it is sent many times at once', async () => {
  const app = await lab.addApp(client)
  server.now += STEP_MS
  const { ticket } = await lab.firstStep()
  const answers = await Promise.all(Array.from({ length: 4 }, () => lab.giveCode(ticket, app.code())))
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
  server.now += STEP_MS
  const again = await lab.giveCode(ticket, app.code())
  expect(again.json()).toMatchObject({ code: 'sign_in_over' })
})

test('five wrong codes end the sign-in, even for the right one', async () => {
  const app = await lab.addApp(client)
  server.now += STEP_MS
  const { ticket } = await lab.firstStep()
  const answers = await Promise.all(Array.from({ length: 8 }, () => lab.giveCode(ticket, '000000')))
  expect(answers.filter(({ statusCode }) => statusCode === 401 || statusCode === 429)).toHaveLength(8)
  expect(answers.filter((answer) => answer.json().code === 'factor')).toHaveLength(5)
  expect((await lab.giveCode(ticket, app.code())).json().code).toBe('sign_in_over')
})

test('an account has ten wrong codes in an hour, over all sign-ins and strange networks', async () => {
  const app = await lab.addApp(client)
  server.now += STEP_MS
  const from = (index: number) => ({ address: `203.0.113.${index}` })
  for (let index = 0; index < 10; index++) {
    const { ticket } = await lab.firstStep(from(index))
    expect((await lab.giveCode(ticket, '000000', from(index))).json().code).toBe('factor')
  }
  const { ticket } = await lab.firstStep(from(99))
  const locked = await lab.giveCode(ticket, app.code(), from(99))
  expect([locked.statusCode, locked.headers['retry-after']]).toEqual([429, '3600'])
  // Neither the account's own networks nor its recovery codes are locked with it.
  const known = { address: '127.0.0.1' }
  expect((await lab.giveCode((await lab.firstStep(known)).ticket, app.code(), known)).statusCode).toBe(200)
  const code = app.codes[0] ?? ''
  expect((await lab.giveCode(ticket, code, from(99))).statusCode).toBe(200)
})

test('a first step is of use only where it began, for five minutes, and with the same password', async () => {
  const app = await lab.addApp(client)
  server.now += STEP_MS
  const key = 'k'.repeat(43)
  const { ticket } = await lab.firstStep({ key })
  const refused = { code: 'sign_in_over' }
  for (const elsewhere of [{ key, address: '198.51.100.8' }, {}, { key: 'x'.repeat(43) }])
    expect((await lab.giveCode(ticket, app.code(), elsewhere)).json()).toMatchObject(refused)
  const session = (await lab.giveCode(ticket, app.code(), { key })).json()
  // Bound to the key, as after any other sign-in.
  expect((await server.as(session.token).get('/api/auth/me')).statusCode).toBe(401)
  const late = await lab.firstStep()
  server.now += 300_000
  expect((await lab.giveCode(late.ticket, app.code())).json()).toMatchObject(refused)
  const before = await lab.firstStep()
  await server.context.db.updateTable('users').set({ password_hash: 'another' }).execute()
  expect((await lab.giveCode(before.ticket, app.code())).json()).toMatchObject(refused)
})

test('a person who was disabled meanwhile stays outside', async () => {
  const app = await lab.addApp(client)
  server.now += STEP_MS
  const { ticket } = await lab.firstStep()
  await server.context.db.updateTable('users').set({ is_disabled: 1 }).execute()
  expect((await lab.giveCode(ticket, app.code())).json().code).toBe('sign_in_over')
})

test('each recovery code opens once, in any spelling, and new ones end those from before', async () => {
  const { codes } = await lab.addApp(client)
  expect(codes).toHaveLength(10)
  const [first = '', second = ''] = codes
  expect(first).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/)
  const tryCode = async (code: string) =>
    (await lab.giveCode((await lab.firstStep()).ticket, code)).statusCode
  expect(await tryCode(first.replaceAll('-', ' ').toUpperCase())).toBe(200)
  expect(await tryCode(first)).toBe(401)
  expect((await lab.factors(client)).recoveryCodes).toBe(9)
  const renewed = await lab.as(client, 'POST', '/api/account/recovery-codes', lab.password)
  expect(renewed.json().recoveryCodes).toHaveLength(10)
  expect(await tryCode(second)).toBe(401)
  expect(await tryCode(renewed.json().recoveryCodes[9])).toBe(200)
})

test('every change needs the password, whose wrong tries are limited', async () => {
  const urls = ['authenticator', 'authenticator/remove', 'passkeys/challenge', 'recovery-codes']
  for (const url of urls)
    for (const body of [{}, { password: null }]) {
      const answer = await lab.as(client, 'POST', `/api/account/${url}`, body)
      expect(answer.json().errors).toEqual([{ field: 'password', message: 'This field is required' }])
    }
  for (let count = 0; count < 5; count++) {
    const answer = await lab.as(client, 'POST', '/api/account/authenticator', { password: 'no' })
    expect(answer.json().errors).toEqual([{ field: 'password', message: 'The password is not right.' }])
  }
  const locked = await lab.as(client, 'POST', '/api/account/authenticator', lab.password)
  expect(locked.statusCode).toBe(429)
})

test('without a factor there are no recovery codes, and they go with the last one', async () => {
  expect((await lab.as(client, 'POST', '/api/account/recovery-codes', lab.password)).statusCode).toBe(409)
  await lab.addApp(client)
  const removed = await lab.as(client, 'POST', '/api/account/authenticator/remove', lab.password)
  expect(removed.json()).toMatchObject({ authenticator: null, recoveryCodes: 0 })
  expect((await lab.login()).json()).toHaveProperty('token')
})

test('each step is in the history, and no secret is in answers, log or database', async () => {
  const app = await lab.addApp(client)
  server.now += STEP_MS
  const code = app.code()
  await lab.giveCode((await lab.firstStep()).ticket, code)
  await lab.giveCode((await lab.firstStep()).ticket, app.codes[0] ?? '')
  const changes = await server.context.db
    .selectFrom('changes')
    .select(['actor', 'what', 'name'])
    .orderBy('revision')
    .execute()
  expect(changes.filter(({ what }) => !what.includes('network')).slice(-2)).toEqual([
    { actor: TEST_ADMIN.username, what: 'second factor added', name: 'authenticator app' },
    { actor: TEST_ADMIN.username, what: 'recovery code used', name: null },
  ])
  const tables = ['authenticators', 'recovery_codes', 'changes'] as const
  const rows = await Promise.all(
    tables.map((table) => server.context.db.selectFrom(table).selectAll().execute()),
  )
  const answer = await lab.as(client, 'GET', '/api/account/factors')
  const kept = JSON.stringify(rows) + server.logged() + answer.body
  const bare = app.codes.map((each) => each.replaceAll('-', ''))
  for (const secret of [app.secret, app.secret.toLowerCase(), ...app.codes, ...bare])
    expect(kept).not.toContain(secret)
})
