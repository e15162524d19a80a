import { startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { createSoftPasskey, type Forged, makeKeys } from '@postern/testkit/soft-passkey'
import { expect, test } from 'vitest'
import { factorsLab, ORIGIN, SITE } from '../../../test/factors-lab.ts'

const NAME = 'console.example.com'
const server = fresh(() =>
  startTestServer({
    now: Date.parse('2026-11-21T12:00:00Z'),
    settings: { POSTERN_PUBLIC_HOST: NAME, POSTERN_HTTPS_PORT: '8443' },
    // So that requests have the console's name, as they do behind HAProxy.
    trustForwarded: true,
  }),
)
const client = fresh(() => server.signIn())
const lab = fresh(async () => factorsLab(server))

const begin = async (from = {}) => (await lab.send('/api/auth/passkey/challenge', {}, from)).json()

test('a passkey signs in by itself, and is listed with its last use', async () => {
  const { passkey, added } = await lab.addPasskey(client)
  expect(added.statusCode).toBe(201)
  expect(added.json()).toMatchObject({ passkey: { name: 'Laptop', host: 'localhost', used_at: null } })
  expect(added.json().recoveryCodes).toHaveLength(10)
  const begun = await begin()
  expect(begun.passkey).toMatchObject({
    rpId: 'localhost',
    allowCredentials: [],
    userVerification: 'required',
  })
  server.now += 1000
  const answer = await lab.givePasskey(begun.ticket, passkey.answer(begun.passkey))
  expect((await server.as(answer.json().token).get('/api/auth/me')).json().username).toBe('admin')
  const { passkeys } = await lab.factors(client)
  expect(passkeys[0]?.used_at).toBe('2026-11-21T12:00:01.000Z')
})

test('a passkey is a second factor after the password', async () => {
  const { passkey } = await lab.addPasskey(client)
  const step = await lab.firstStep()
  expect(step.kinds).toEqual(['passkey', 'recovery'])
  if (!step.passkey) throw new Error('none is wanted')
  expect(step.passkey.allowCredentials).toEqual([
    { id: passkey.id, type: 'public-key', transports: ['internal'] },
  ])
  const answer = passkey.answer(step.passkey, { userHandle: null })
  expect((await lab.givePasskey(step.ticket, answer)).json()).toHaveProperty('token')
})

const OTHER = makeKeys()
const FORGED: [string, Forged][] = [
  ['another site', { origin: 'https://evil.example' }],
  ['another port of this host', { origin: 'http://localhost:8080' }],
  ['the same name over https', { origin: 'https://localhost:3000' }],
  ['a name below ours', { origin: 'http://app.localhost:3000' }],
  ['another relying party', { rpId: 'evil.example' }],
  ['an old challenge', { challenge: 'AAAA' }],
  ['the making of a passkey', { type: 'webauthn.create' }],
  ['a counter that did not grow', { counter: 7 }],
  ['nobody who was verified', { isVerified: false }],
  ['another key', { key: OTHER }],
  ['another account', { userHandle: 'AAAA' }],
  ['no account', { userHandle: null }],
]
test.each(FORGED)('an answer of %s opens nothing', async (_, forged) => {
  const { passkey } = await lab.addPasskey(client)
  passkey.counter = 6
  const first = await begin()
  expect((await lab.givePasskey(first.ticket, passkey.answer(first.passkey))).statusCode).toBe(200)
  const second = await begin()
  const refused = await lab.givePasskey(second.ticket, passkey.answer(second.passkey, forged))
  expect([refused.statusCode, refused.json().code]).toEqual([401, 'factor'])
  // What was refused has used nothing up.
  expect((await lab.givePasskey(second.ticket, passkey.answer(second.passkey))).statusCode).toBe(200)
})

test('an answer opens one session: a copy of it opens nothing, even of a passkey that does not count', async () => {
  const { passkey } = await lab.addPasskey(client)
  const begun = await begin()
  const answer = passkey.answer(begun.passkey, { counter: 0 })
  const tries = await Promise.all([1, 2, 3].map(() => lab.givePasskey(begun.ticket, answer)))
  expect(tries.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
  expect((await lab.givePasskey(begun.ticket, answer)).json().code).toBe('sign_in_over')
  const under = await begin()
  await server.restart()
  expect((await lab.givePasskey(begun.ticket, answer)).json().code).toBe('sign_in_over')
  const after = passkey.answer(under.passkey, { counter: 0 })
  expect((await lab.givePasskey(under.ticket, after)).statusCode).toBe(200)
  const late = await begin()
  server.now += 300_000
  expect((await lab.givePasskey(late.ticket, passkey.answer(late.passkey))).json().code).toBe('sign_in_over')
})

test('a challenge is of use only where it was asked for', async () => {
  const { passkey } = await lab.addPasskey(client)
  const begun = await begin()
  const answer = passkey.answer(begun.passkey)
  const elsewhere = await lab.givePasskey(begun.ticket, answer, { address: '198.51.100.8' })
  expect(elsewhere.json().code).toBe('sign_in_over')
  expect((await lab.givePasskey(begun.ticket, answer)).statusCode).toBe(200)
})

test('unknown passkeys are limited, and a challenge of a second step takes the account’s own only', async () => {
  await lab.addPasskey(client)
  const stranger = createSoftPasskey(ORIGIN)
  const step = await lab.firstStep()
  if (!step.passkey) throw new Error('none is wanted')
  const answer = stranger.answer(step.passkey, { userHandle: null })
  expect((await lab.givePasskey(step.ticket, answer)).json().code).toBe('factor')
  const address = '203.0.113.50'
  for (let count = 0; count < 5; count++) {
    const begun = await begin({ address })
    const refused = await lab.givePasskey(begun.ticket, stranger.answer(begun.passkey), { address })
    expect(refused.statusCode).toBe(401)
  }
  const begun = await begin({ address })
  const locked = await lab.givePasskey(begun.ticket, stranger.answer(begun.passkey), { address })
  expect(locked.statusCode).toBe(429)
})

test.each([
  [`${NAME}:8443`, NAME, `https://${NAME}:8443`],
  [SITE, 'localhost', ORIGIN],
])('a passkey made at %s belongs to this name alone', async (host, id, origin) => {
  const { passkey, added } = await lab.addPasskey(client, 'Key', host, origin)
  expect(added.json().passkey.host).toBe(id)
  const begun = await begin({ host })
  expect((await lab.givePasskey(begun.ticket, passkey.answer(begun.passkey), { host })).statusCode).toBe(200)
  const other = host === SITE ? `${NAME}:8443` : SITE
  const elsewhere = await begin({ host: other })
  const answer = passkey.answer(elsewhere.passkey)
  expect((await lab.givePasskey(elsewhere.ticket, answer, { host: other })).statusCode).toBe(401)
  expect(await lab.firstStep({ host: other })).toMatchObject({ kinds: ['recovery'], passkey: null })
})

test.each([
  '203.0.113.1:8443',
  'evil.example:8443',
  NAME,
  `${NAME}:443`,
  'localhost:8080',
  'localhost',
  `[::1]:3000`,
])('at %s, which is none of the console’s names with its port, there are no passkeys', async (host) => {
  const begun = await lab.as(client, 'POST', '/api/account/passkeys/challenge', lab.password, host)
  expect([begun.statusCode, begun.json().code]).toEqual([409, 'conflict'])
  const signIn = await lab.send('/api/auth/passkey/challenge', {}, { host })
  expect([signIn.statusCode, signIn.json().code]).toEqual([409, 'conflict'])
  const factors = await lab.as(client, 'GET', '/api/account/factors', undefined, host)
  expect(factors.json().passkeyHost).toBeNull()
})

test.each<[string, Forged]>([
  ['another site', { origin: 'https://evil.example' }],
  ['another relying party', { rpId: 'evil.example' }],
  ['an old challenge', { challenge: 'AAAA' }],
  ['nobody who was verified', { isVerified: false }],
])('a new passkey of %s is refused', async (_, forged) => {
  const begun = (await lab.as(client, 'POST', '/api/account/passkeys/challenge', lab.password)).json()
  const passkey = createSoftPasskey(ORIGIN).create(begun.passkey, forged)
  const refused = await lab.as(client, 'POST', '/api/account/passkeys', {
    ...{ ticket: begun.ticket, name: 'x', passkey },
  })
  expect(refused.json().errors).toEqual([{ field: 'passkey', message: 'This passkey cannot be used here' }])
})

test('a passkey is registered once, in its own session, and is renamed and removed by its owner only', async () => {
  const { body, added } = await lab.addPasskey(client)
  expect((await lab.as(client, 'POST', '/api/account/passkeys', body)).statusCode).toBe(409)
  const { passkey } = await lab.addPasskey(client, 'Phone')
  const step = await lab.firstStep()
  if (!step.passkey) throw new Error('none is wanted')
  const other = (await lab.givePasskey(step.ticket, passkey.answer(step.passkey))).json()
  const elsewhere = await lab.as({ ...client, token: other.token }, 'POST', '/api/account/passkeys', body)
  expect(elsewhere.json().errors[0].field).toBe('passkey')
  const { id } = added.json().passkey
  const renamed = await lab.as(client, 'PATCH', `/api/account/passkeys/${id}`, { name: 'Desk' })
  expect(renamed.json().name).toBe('Desk')
  await server.context.db
    .insertInto('users')
    .values({
      ...{ username: 'eve', password_hash: null, role: 'admin', created_at: '', updated_at: '' },
    })
    .execute()
  await server.context.db
    .updateTable('sessions')
    .set({ user_id: 2 } as object)
    .execute()
  for (const [method, url, payload] of [
    ['PATCH', `/api/account/passkeys/${id}`, { name: 'Mine' }],
    ['POST', `/api/account/passkeys/${id}/remove`, {}],
  ] as const)
    expect((await lab.as(client, method, url, payload)).statusCode).toBe(404)
  await server.context.db
    .updateTable('sessions')
    .set({ user_id: 1 } as object)
    .execute()
  const removed = await lab.as(client, 'POST', `/api/account/passkeys/${id}/remove`, lab.password)
  expect(removed.json()).toEqual({ id })
  expect((await lab.factors(client)).passkeys.map(({ name }) => name)).toEqual(['Phone'])
})

test('an account has at most twenty passkeys', async () => {
  await lab.addPasskey(client)
  const row = await server.context.db.selectFrom('passkeys').selectAll().executeTakeFirstOrThrow()
  const { id: _, ...rest } = row
  for (let count = 1; count < 20; count++)
    await server.context.db
      .insertInto('passkeys')
      .values({ ...rest, credential: `c${count}` })
      .execute()
  const refused = await lab.as(client, 'POST', '/api/account/passkeys/challenge', lab.password)
  expect(refused.json().message).toContain('at most 20 passkeys')
})
