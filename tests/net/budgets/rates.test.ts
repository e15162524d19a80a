import { APP, ATTACKERS, type BudgetLab, startBudgetLab } from '@postern/testkit/lab/budgets'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

let budgets: BudgetLab

beforeAll(async () => {
  // The least that counts for rates: a machine that is busy still asks for more.
  budgets = await startBudgetLab({ ...PROVIDER, POSTERN_CONNECTIONS_PER_SOURCE: '100' })
  const { api } = budgets.installation
  const guarded = { domain: GUARDED, skipValidation: true, authentication: true }
  await api.call('POST', '/api/domains', { ...guarded, allowedEmails: ['ann@example.com'] })
  const service = await api.publish(1, {
    ...{ name: 'guarded', domain: GUARDED, backendHost: '127.0.0.1', backendPort: 8080 },
    ...{ requireAuth: true, skipAuthRoutes: '^/hooks/[a-z]+$' },
  })
  await until('the service', async () => (await api.getService(service)).state.phase === 'live')
})

afterAll(async () => {
  await budgets?.close()
})

const CONSOLE = '203.0.113.1'
const GUARDED = 'guarded.example.com'
/** Nobody asks it. */
const PROVIDER = {
  POSTERN_OIDC_ISSUER: 'github',
  POSTERN_OIDC_CLIENT_ID: 'x',
  POSTERN_OIDC_CLIENT_SECRET: 'x',
}
/** Fewer than may be under way at once. */
const ENDLESS = { connections: 2, streams: 20, repeats: true } as const
const [pages, readings, bypass, console, handshakes] = ATTACKERS

test.each([
  ['pages', { host: APP, path: '/' }, pages],
  ['paths that are read in several ways', { host: APP, path: `/a%20${'/...'.repeat(14)}` }, readings],
  ['the console', { host: CONSOLE, path: '/api/config' }, console],
  ['what lines of a bypass decide', { host: GUARDED, path: '/hooks/1' }, bypass],
])('a source that asks for %s without end is refused, and nobody else is', async (_, target, attacker) => {
  for (const from of [attacker?.ipv4 ?? [], attacker?.network ?? []]) {
    const attack = budgets.attack({ ...ENDLESS, ...target, from })
    onTestFinished(() => attack.stop())
    await until('a refusal', () => attack.output().includes('"429":'))
    await until('the end of its connections', () => attack.output().includes('"closed":'))
    await budgets.othersAreServed()
    await attack.stop()
  }
})

test('a source that connects without end is refused for a while, and nobody else is', async () => {
  const { visitor, server } = budgets.lab
  const from = handshakes?.ipv4[0] ?? ''
  const common = ['-sk', '--http1.1', '--interface', from, '--resolve', `${APP}:443:${server.address}`]
  const anew = ['-Z', '-H', 'connection: close', '-o', '/dev/null', '-w', '%{http_code}\n']
  const { stdout } = await visitor.run('curl', ...common, ...anew, `https://${APP}/?[1-1000]`)
  const answers = stdout.trim().split('\n')
  const served = answers.filter((status) => status === '200').length
  expect(served).toBeGreaterThan(150)
  expect(answers.filter((status) => status === '000').length).toBeGreaterThan(0)
  await budgets.othersAreServed()
  await until(
    'another connection',
    async () => {
      const args = [...common, '-o', '/dev/null', '-w', '%{http_code}', `https://${APP}/`]
      return (await visitor.run('curl', ...args)).stdout === '200'
    },
    { everyMs: 1000 },
  )
})
