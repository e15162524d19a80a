import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createVisitorSessions } from './sessions.ts'

const KEY = { id: 'k1', secret: 'x'.repeat(43), madeAt: 0 }
const VISITOR = { member: '7', email: 'ann@example.com', aud: 'a.example.com', auth_time: 1_700_000_000 }

function makeSessions(all = () => [KEY]) {
  const time = { now: 1_700_000_000_000 }
  const signInKeys = { all, current: () => KEY }
  const sessions = createVisitorSessions({
    signInKeys,
    identities: { seal: async () => 'identity' },
    clock: () => time.now,
  })
  return { sessions, time }
}

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const sign = (header: unknown, payload: unknown, secret = KEY.secret) => {
  const body = `${encode(header)}.${encode(payload)}`
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`
}
const HEADER = { alg: 'HS256', kid: 'k1' }
const CLAIMS = { ...VISITOR, iat: 1_700_000_000, exp: 1_700_000_100 }

test('a session can be read until it expires', async () => {
  const { sessions, time } = makeSessions()
  const sealed = await sessions.seal(VISITOR)
  expect(await sessions.read(sealed)).toMatchObject(VISITOR)
  expect(await sessions.read(sign(HEADER, CLAIMS))).toEqual(CLAIMS)
  time.now += 366 * 24 * 3_600_000
  expect(await sessions.read(sealed)).toBeUndefined()
})

test.each([
  ['nothing', ''],
  ['no JWT', 'hello'],
  ['dots', '..'],
  ['letters that are not base64url', 'ä.ö.ü'],
  ['a header that is not JSON', sign('{', CLAIMS)],
  ['a header that is no object', sign('null', CLAIMS)],
  ['a header without an algorithm', sign({ kid: 'k1' }, CLAIMS)],
  ['an algorithm that is a number', sign({ ...HEADER, alg: 1 }, CLAIMS)],
  ['no signature wanted', `${encode({ ...HEADER, alg: 'none' })}.${encode(CLAIMS)}.`],
  ['a header that must be understood', sign({ ...HEADER, crit: ['x'], x: 1 }, CLAIMS)],
  ['a payload that is not encoded', sign({ ...HEADER, crit: ['b64'], b64: false }, CLAIMS)],
  ['another key', sign({ ...HEADER, kid: 'k2' }, CLAIMS)],
  ['no key', sign({ alg: 'HS256' }, CLAIMS)],
  ['a key that is an object', sign({ ...HEADER, kid: {} }, CLAIMS)],
  ['another secret', sign(HEADER, CLAIMS, 'y'.repeat(43))],
  ['a payload that is not JSON', sign(HEADER, 'hello')],
  ['a payload that is no object', sign(HEADER, '[]')],
  ['a time that is a text', sign(HEADER, { ...CLAIMS, exp: 'never' })],
  ['a member that is none', sign(HEADER, { ...CLAIMS, member: 'x' })],
])('a session with %s is invalid, and no failure', async (_, session) => {
  expect(await makeSessions().sessions.read(session)).toBeUndefined()
})

test('a failure on our side does not make a session invalid', async () => {
  const { sessions } = makeSessions(() => {
    throw new Error('the keys cannot be read')
  })
  await expect(sessions.read(sign(HEADER, CLAIMS))).rejects.toThrow('the keys cannot be read')
})
