import { startTestServer, TEST_ADMIN } from '@postern/testkit/server'
import { fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { PASSWORD_COST } from '../../core/accounts/passwords.ts'

/**
 * Of the 52 guesses in the queue, including the two inside, only these are checked before the administrator's: three
 * or four, and more on a busy machine.
 */
const ON_THE_WAY = 20
const KNOWN = '192.0.2.77'

const passwordCost = PASSWORD_COST
const options = { now: Date.parse('2026-11-21T12:00:00Z'), world: { passwordCost } }
const server = fresh(() => startTestServer(options))

function login(password: string, remoteAddress: string, username = 'admin') {
  return server.call({
    method: 'POST',
    url: '/api/auth/login',
    payload: { username, password },
    remoteAddress,
  })
}

const right = (address: string) => login(TEST_ADMIN.password, address)

/** Guesses from all /64s of one /56 and from several IPv4 addresses, all at once; counts the answers. */
function attack() {
  const networks = Array.from({ length: 256 }, (_, index) => `2001:db8:1:${index.toString(16)}::1`)
  const addresses = Array.from({ length: 40 }, (_, index) => `198.51.100.${index % 8}`)
  const answered: Record<number, number> = {}
  const all = [...networks, ...addresses].map(async (address) => {
    const { statusCode } = await login('a guess', address)
    answered[statusCode] = (answered[statusCode] ?? 0) + 1
  })
  return { answered, over: Promise.all(all) }
}

/** How many guesses were checked before the administrator was in. */
async function guessesBefore(address: string): Promise<number> {
  const { answered, over } = attack()
  await new Promise((resolve) => setImmediate(resolve))
  const { statusCode } = await right(address)
  const guesses = answered[401] ?? 0
  await over
  expect(statusCode).toBe(200)
  expect(answered[401]).toBeGreaterThan(40)
  return guesses
}

test('during an attack, the loopback address signs in next', async () => {
  expect(await guessesBefore('127.0.0.1')).toBeLessThanOrEqual(ON_THE_WAY)
})

test('so does an address that has signed in before, also after a restart', async () => {
  expect((await right(KNOWN)).statusCode).toBe(200)
  await server.restart()
  expect(await guessesBefore(KNOWN)).toBeLessThanOrEqual(ON_THE_WAY)
})

test("an unknown address waits for at most one guess of each of the attacker's networks", async () => {
  // Eight addresses and one /48.
  expect(await guessesBefore('203.0.113.50')).toBeLessThanOrEqual(9 + ON_THE_WAY)
})

test('a busy answer is no failure: the administrator whom it met may try again', async () => {
  const busy = Promise.withResolvers<void>()
  const inside = Array.from({ length: 51 }, () => server.context.passwordGate.pass(() => busy.promise, -1e6))
  for (let knock = 0; knock < 12; knock++) expect((await right('203.0.113.50')).statusCode).toBe(503)
  busy.resolve()
  await Promise.all(inside)
  expect((await right('203.0.113.50')).statusCode).toBe(200)
})

test('wider networks have larger budgets, and known addresses are exempt', async () => {
  const home = '2001:db8:1:ff::1'
  expect((await right(home)).statusCode).toBe(200)
  const answers = []
  for (let network = 0; network < 62; network++) {
    const address = `2001:db8:1:${network.toString(16)}::1`
    answers.push((await login('no', address, `user${network}`)).statusCode)
  }
  expect(answers.filter((status) => status === 401)).toHaveLength(60)
  expect((await right('2001:db8:1:fe::1')).statusCode).toBe(429)
  expect((await right(home)).statusCode).toBe(200)
  // Another household of the same provider.
  expect((await right('2001:db8:1:100::1')).statusCode).toBe(200)
})

test('a known address may not guess more than others', async () => {
  expect((await right(KNOWN)).statusCode).toBe(200)
  for (let i = 0; i < 5; i++) expect((await login('no', KNOWN)).statusCode).toBe(401)
  expect((await right(KNOWN)).statusCode).toBe(429)
})

test('only so many addresses of an account are remembered, the newest', async () => {
  for (let i = 0; i < 60; i++) {
    server.now += 1000
    expect((await right(`203.0.113.${i}`)).statusCode).toBe(200)
  }
  const rows = await server.context.db.selectFrom('sign_in_networks').select('network').execute()
  expect(rows).toHaveLength(50)
  expect(rows.map((row) => row.network)).toContain('203.0.113.59')
  expect(rows.map((row) => row.network)).not.toContain('203.0.113.9')
})
