import { callApi } from '@postern/testkit/api'
import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { buildApp } from '../../app.ts'
import { PASSWORD_COST } from '../../core/accounts/passwords.ts'

const server = fresh(() => startTestServer({ world: { passwordCost: PASSWORD_COST } }))
let behindProxy: FastifyInstance

beforeEach(async () => {
  behindProxy = await buildApp(server.context, { trustForwarded: true })
})
afterEach(() => behindProxy.close())

const login = { method: 'POST', url: '/api/auth/login' } as const
/** The two ways in that a local user has: each can come from any address of 127.0.0.0/8. */
const WAYS = {
  'the port': (password: string, remoteAddress: string) =>
    server.app.inject({ ...login, remoteAddress, payload: { ...TEST_ADMIN, password } }),
  HAProxy: (password: string, address: string) =>
    behindProxy.inject({
      ...login,
      headers: { 'x-forwarded-for': address },
      payload: { ...TEST_ADMIN, password },
    }),
}
const ways = Object.keys(WAYS) as (keyof typeof WAYS)[]
const nth = (index: number) => `127.${1 + (index >> 8)}.${index & 255}.9`

async function signInAtSocket(): Promise<number> {
  const path = `${server.dataDir}/console.sock`
  await server.app.listen({ path })
  return (await callApi(path, '', 'POST', login.url, TEST_ADMIN)).status
}

test.each(ways)('by way of %s, guesses from all of 127.0.0.0/8 are those of one source', async (way) => {
  const statuses = []
  for (let i = 0; i < 8; i++) statuses.push((await WAYS[way]('a guess', nth(i))).statusCode)
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429])
  for (const other of ways) expect((await WAYS[other]('a guess', '127.0.0.1')).statusCode).toBe(429)
  expect((await WAYS.HAProxy('a guess', '::1')).statusCode).toBe(429)
})

test('they lock out neither an address that has signed in before, nor root at the console’s socket', async () => {
  expect((await WAYS.HAProxy(TEST_ADMIN.password, '192.0.2.77')).statusCode).toBe(200)
  const guesses = ways.flatMap((way) => Array.from({ length: 100 }, (_, i) => WAYS[way]('a guess', nth(i))))
  await Promise.race(guesses)
  const [known, atSocket] = await Promise.all([
    WAYS.HAProxy(TEST_ADMIN.password, '192.0.2.77'),
    signInAtSocket(),
  ])
  expect([known.statusCode, atSocket]).toEqual([200, 200])
  await Promise.all(guesses)
})

test('root at the console’s socket goes before everybody, even where known addresses fill the line', async () => {
  const busy = Promise.withResolvers<void>()
  const waiting = Array.from({ length: 51 }, () =>
    server.context.passwordGate.pass(() => busy.promise, -1000),
  )
  const ended = Promise.allSettled(waiting)
  const atSocket = signInAtSocket()
  // Either the last one in the line gives its place, or root is sent away.
  await Promise.race([ended, atSocket, Promise.allSettled([waiting.at(-1)])])
  busy.resolve()
  expect(await atSocket).toBe(200)
  await ended
})

test('a sign-in from a loopback address through HAProxy is told as one from a new network', async () => {
  const told = async () => await server.context.db.selectFrom('alerts').select(['kind', 'problem']).execute()
  await WAYS['the port'](TEST_ADMIN.password, '127.0.0.1')
  expect(await told()).toEqual([])
  await WAYS.HAProxy(TEST_ADMIN.password, '127.9.9.9')
  expect(await told()).toEqual([
    { kind: 'new-network', problem: expect.stringContaining('came from 127.9.9.9') },
  ])
  await WAYS.HAProxy(TEST_ADMIN.password, '127.0.0.1')
  expect(await told()).toHaveLength(1)
})
