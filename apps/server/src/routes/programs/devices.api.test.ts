import type { ApiToken } from '@postern/contract/api-tokens'
import type { DeviceCodes, DeviceProgress, DeviceRequest } from '@postern/contract/sign-in/device'
import { addPerson } from '@postern/testkit/people'
import { type Client, startTestServer } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { describe, expect, test } from 'vitest'
import { CONFIRMED, makeApiToken } from '../../../test/programs-lab.ts'

const BEGIN = Date.parse('2026-11-21T12:00:00Z')
const server = fresh(() => startTestServer({ now: BEGIN }))
const admin = fresh(() => server.signIn())

const COMMAND = '198.51.100.7'
const UNKNOWN = [{ field: 'code', message: expect.stringContaining('No command waits with this code') }]

const begin = (remoteAddress = COMMAND, client: unknown = 'laptop') =>
  server.call({ method: 'POST', url: '/api/auth/device', payload: { client } as object, remoteAddress })
const begun = async () => (await begin()).json<DeviceCodes>()
/** After the interval that every command keeps. */
const poll = async (device_code: string, waited = 2): Promise<DeviceProgress> => {
  server.now += waited * 1000
  const answer = await server.call({ method: 'POST', url: '/api/auth/device/poll', payload: { device_code } })
  return answer.json()
}
const read = (code: string, client = admin) => client.post('/api/auth/device/read', { code })
const approve = (code: string, form: object = {}, client: Client = admin) =>
  client.post('/api/auth/device/approve', { code, name: 'laptop', role: 'viewer', ...CONFIRMED, ...form })
const deny = (code: string, client = admin) => client.post('/api/auth/device/deny', { code })
const me = (token: string) => server.as(token).get('/api/auth/me')

test('a command gets a token of the person who approves it, once', async () => {
  const codes = await begun()
  expect(codes).toEqual({
    device_code: expect.stringMatching(/^[\w-]{43}$/),
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: 'https://203.0.113.1/device',
    expires_in: 600,
    interval: 2,
  })
  expect(await poll(codes.device_code, 0)).toEqual({ state: 'pending' })
  expect(await poll(codes.device_code)).toEqual({ state: 'pending' })
  const answer = await approve(codes.user_code, { name: 'postern on laptop', role: 'editor' })
  expect(answer.statusCode).toBe(201)
  const made = answer.json<ApiToken>()
  expect(made).toMatchObject({ name: 'postern on laptop', role: 'editor', reach: null, lastUsed: null })
  // The browser that approves never sees it.
  expect(answer.body).not.toContain('pta_')
  const progress = await poll(codes.device_code)
  const token = progress.state === 'approved' ? progress.token : ''
  expect(token).toMatch(/^pta_[\w-]{43}$/)
  expect((await me(token)).json()).toMatchObject({ username: 'admin', role: 'editor' })
  expect(await poll(codes.device_code)).toEqual({ state: 'over' })

  expect((await admin.get('/api/tokens')).json()).toMatchObject([{ id: made.id, name: 'postern on laptop' }])
  expect((await admin.get('/api/history?limit=1')).json().data[0]).toMatchObject({
    what: 'API token created',
    name: 'postern on laptop',
    actor: { kind: 'person', name: 'admin' },
  })
  expect(server.logged()).not.toContain(token.slice(4))
  expect(server.logged()).not.toContain(codes.device_code)
})

describe('a person sees what asks', () => {
  test('by the code in any spelling, with its address and the time', async () => {
    const { user_code: code } = await begun()
    server.now += 5000
    const found = { client: 'laptop', code, address: COMMAND }
    for (const typed of [code, code.toLowerCase().replace('-', ' '), ` ${code.replace('-', '')} `])
      expect((await read(typed)).json<DeviceRequest>()).toEqual({
        ...{ ...found, isSameNetwork: false },
        askedAt: new Date(BEGIN).toISOString(),
        endsAt: new Date(BEGIN + 600_000).toISOString(),
      })
    const near = (await begin('127.0.0.1')).json<DeviceCodes>()
    expect((await read(near.user_code)).json()).toMatchObject({ isSameNetwork: true })
  })

  test('and its name has no marks that could hide what it says', async () => {
    for (const client of ['', 'a\u202eb', 'a\nb', 'x'.repeat(101), 7])
      expect((await begin(COMMAND, client)).statusCode).toBe(422)
  })
})

test('a command that is denied hears so, and no token is made', async () => {
  const { device_code, user_code } = await begun()
  expect((await deny(user_code)).statusCode).toBe(200)
  expect((await approve(user_code)).json().errors).toEqual(UNKNOWN)
  expect(await poll(device_code)).toEqual({ state: 'denied' })
  expect(await poll(device_code)).toEqual({ state: 'over' })
  expect((await admin.get('/api/tokens')).json()).toEqual([])
})

test('a code works once', async () => {
  const { user_code } = await begun()
  const answers = await Promise.all([approve(user_code), approve(user_code)])
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 422])
  expect((await deny(user_code)).json().errors).toEqual(UNKNOWN)
  expect((await read(user_code)).json().errors).toEqual(UNKNOWN)
  expect((await admin.get('/api/tokens')).json()).toHaveLength(1)
})

test('after ten minutes it is over, also for a token that nobody fetched', async () => {
  const [late, forgotten] = [await begun(), await begun()]
  await approve(forgotten.user_code)
  server.now = BEGIN + 599_000
  expect((await read(late.user_code)).statusCode).toBe(200)
  server.now = BEGIN + 600_000
  expect((await read(late.user_code)).json().errors).toEqual(UNKNOWN)
  expect((await approve(late.user_code)).json().errors).toEqual(UNKNOWN)
  for (const { device_code } of [late, forgotten]) expect(await poll(device_code)).toEqual({ state: 'over' })
})

test('a restart ends what waits', async () => {
  const { device_code } = await begun()
  await server.restart()
  expect(await poll(device_code)).toEqual({ state: 'over' })
})

test('a command that polls too often is slowed down, and still gets its token', async () => {
  const { device_code, user_code } = await begun()
  await poll(device_code)
  expect(await poll(device_code, 1)).toEqual({ state: 'slow_down', interval: 7 })
  expect(await poll(device_code, 6)).toEqual({ state: 'slow_down', interval: 12 })
  await approve(user_code)
  expect(await poll(device_code, 12)).toMatchObject({ state: 'approved' })
})

describe('nobody gives a command more than they have', () => {
  test('by role and by reach, and the code can still be used after a wrong form', async () => {
    const [mine, other] = [
      await admin.createNode({ name: 'mine' }),
      await admin.createNode({ name: 'other' }),
    ]
    const reach = { nodes: [mine.id], domains: [] }
    const eve = await addPerson(server, 'eve', 'editor', reach)
    const { device_code, user_code } = await begun()
    const wrong = await approve(user_code, { role: 'admin', expireAt: '1999-01-01T00:00:00Z' }, eve)
    expect(wrong.statusCode).toBe(422)
    expect(
      wrong
        .json()
        .errors.map(({ field }: { field: string }) => field)
        .sort(),
    ).toEqual(['expireAt', 'role'])
    const beyond = await approve(user_code, { reach: { nodes: [other.id], domains: [] } }, eve)
    expect(beyond.json().errors).toMatchObject([{ field: 'reach.nodes.0' }])
    expect(await poll(device_code)).toEqual({ state: 'pending' })
    expect((await approve(user_code, { role: 'editor' }, eve)).statusCode).toBe(201)
    const progress = await poll(device_code)
    const token = progress.state === 'approved' ? progress.token : ''
    expect((await me(token)).json()).toMatchObject({ role: 'editor', reach })
    expect((await server.as(token).get('/api/nodes')).body).not.toContain('other')
  })

  test('and it counts among their tokens', async () => {
    for (let count = 0; count < 50; count++) await makeApiToken(admin)
    const { user_code } = await begun()
    expect((await approve(user_code)).json().message).toContain('You have 50 API tokens')
  })

  test('and no program does', async () => {
    const { token } = await makeApiToken(admin)
    const { user_code } = await begun()
    for (const ask of [read, deny]) expect((await ask(user_code, server.as(token))).statusCode).toBe(403)
    expect((await approve(user_code, {}, server.as(token))).statusCode).toBe(403)
  })
})

describe('codes are not guessed', () => {
  const WRONG = 'BBBB-BBBB'

  test('by a person, in several sessions', async () => {
    const { user_code } = await begun()
    const again = await server.signIn()
    for (let count = 0; count < 10; count++)
      expect((await read(WRONG, count % 2 ? admin : again)).json().errors).toEqual(UNKNOWN)
    for (const answer of [await read(user_code, again), await approve(user_code), await deny(user_code)])
      expect([answer.statusCode, Number(answer.headers['retry-after'])]).toEqual([429, 600])
    // Others are not affected.
    expect((await read(user_code, await addPerson(server, 'ann', 'viewer'))).statusCode).toBe(200)
    server.now = BEGIN + 600_000
    const next = await begun()
    expect((await read(next.user_code)).statusCode).toBe(200)
  })

  test('by many people at one address', async () => {
    for (const name of ['a', 'b', 'c']) {
      const person = await addPerson(server, name, 'viewer')
      for (let count = 0; count < 10; count++) await read(WRONG, person)
    }
    expect((await read(WRONG)).statusCode).toBe(429)
  })

  test('and what is no code is told so without being counted', async () => {
    for (let count = 0; count < 20; count++) {
      const { errors } = (await read(count % 2 ? '' : 'AEIO-1234')).json()
      expect(errors).toMatchObject([{ field: 'code' }])
      expect(errors).not.toEqual(UNKNOWN)
    }
    const { user_code } = await begun()
    expect((await read(user_code)).statusCode).toBe(200)
  })
})

describe('strangers cannot fill the memory', () => {
  test('from one source', async () => {
    for (let count = 0; count < 5; count++) expect((await begin()).statusCode).toBe(200)
    expect((await begin()).statusCode).toBe(503)
    expect((await begin('2001:db8::1')).statusCode).toBe(200)
    server.now += 600_000
    expect((await begin()).statusCode).toBe(200)
  })

  test('also not by asking, being denied and asking again', async () => {
    for (let count = 0; count < 20; count++) {
      const { device_code, user_code } = await begun()
      await deny(user_code)
      expect(await poll(device_code, 0)).toEqual({ state: 'denied' })
    }
    expect((await begin()).statusCode).toBe(429)
  })

  test('from many', async () => {
    const answers = []
    for (let count = 0; count < 1001; count++) answers.push(await begin(`10.0.${count >> 8}.${count & 255}`))
    expect(answers.findIndex(({ statusCode }) => statusCode !== 200)).toBe(1000)
    expect(answers.at(-1)?.json().message).toContain('Too many commands wait to be signed in')
  })

  test('from the many networks of one customer', async () => {
    const counts: Record<number, number> = {}
    // All of a /56, then other parts of its /48.
    for (let count = 0; count < 400; count++) {
      const { statusCode } = await begin(
        `2001:db8:0:${(count < 200 ? count >> 2 : count << 6).toString(16)}::1`,
      )
      counts[statusCode] = (counts[statusCode] ?? 0) + 1
      if (count === 199) expect(counts).toEqual({ 200: 20, 429: 140, 503: 40 })
    }
    expect(counts[200]).toBe(40)
    expect((await begin('198.51.100.9')).statusCode).toBe(200)
    expect((await begin('2001:db8:1::1')).statusCode).toBe(200)
  })

  test('and where many of a few networks wait, the oldest of them make room for others', async () => {
    const first = (await begin('10.0.0.0')).json<DeviceCodes>()
    for (let count = 1; count < 1000; count++) await begin(`10.0.0.${count % 250}`)
    const [mine, next] = [await begin(), await begin()]
    expect([mine.statusCode, next.statusCode]).toEqual([200, 200])
    expect(await poll(first.device_code, 0)).toEqual({ state: 'over' })
    expect((await read(mine.json<DeviceCodes>().user_code)).statusCode).toBe(200)
  })
})
