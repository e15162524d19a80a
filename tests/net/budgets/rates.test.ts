import { APP, ATTACKERS, type BudgetLab, startBudgetLab } from '@postern/testkit/lab/budgets'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

let budgets: BudgetLab

beforeAll(async () => {
  // The minimum that counts for rates: even a busy machine sends more.
  budgets = await startBudgetLab({ ...PROVIDER, POSTERN_CONNECTIONS_PER_SOURCE: '100' })
  const { api } = budgets.installation
  const guarded = { domain: GUARDED, skipValidation: true, authentication: true }
  await api.call('POST', '/api/domains', { ...guarded, allowedEmails: ['ann@example.com'] })
  const service = await api.publish(1, {
    ...{ name: 'guarded', domain: GUARDED, backendHost: '127.0.0.1', backendPort: 8080 },
    ...{ requireAuth: true, skipAuthRoutes: '^/hooks/[a-z]+$' },
  })
  const secured = { domain: APP, port: TLS_PORT, ssl: true, backendHost: '127.0.0.1', backendPort: 8080 }
  await api.publishPort(1, { name: 'secured', ...secured })
  await until('the service', async () => (await api.getService(service)).state.phase === 'live')
})

afterAll(async () => {
  await budgets?.close()
})

const CONSOLE = '203.0.113.1'
const GUARDED = 'guarded.example.com'
/** Nobody connects to it. */
const PROVIDER = {
  POSTERN_OIDC_ISSUER: 'github',
  POSTERN_OIDC_CLIENT_ID: 'x',
  POSTERN_OIDC_CLIENT_SECRET: 'x',
}
/** Fewer than the limit on simultaneous requests. */
const ENDLESS = { connections: 2, streams: 20, repeats: true } as const
const [pages, readings, bypass, console, handshakes, redirects, ports, cuts] = ATTACKERS
const TLS_PORT = 32_660

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

test.each([
  ['for pages', 443, 200, handshakes],
  ['to plain HTTP', 80, 308, redirects],
  ['to the TLS of a TCP service', TLS_PORT, 200, ports],
] as const)(
  'a source that connects without end %s is refused for a while, and nobody else is',
  async (_, port, status, attacker) => {
    const { visitor, server } = budgets.lab
    const from = attacker?.ipv4[0] ?? ''
    const url = `http${port === 80 ? '' : 's'}://${APP}:${port}/`
    const common = ['-sk', '--http1.1', '--interface', from, '--resolve', `${APP}:${port}:${server.address}`]
    const write = ['-o', '/dev/null', '-w', '%{http_code}\n']
    // Plain HTTP has to close its connections explicitly.
    const anew = ['-Z', ...(port === 80 ? [] : ['-H', 'connection: close'])]
    const { stdout } = await visitor.run('curl', ...common, ...anew, ...write, `${url}?[1-1000]`)
    const answers = stdout.trim().split('\n')
    expect(answers.filter((each) => each === String(status)).length).toBeGreaterThan(150)
    expect(answers.filter((each) => each === '000').length).toBeGreaterThan(0)
    await budgets.othersAreServed()
    await until(
      'another connection',
      async () => (await visitor.run('curl', ...common, ...write, url)).stdout.trim() === String(status),
      { everyMs: 1000 },
    )
  },
)

test('a source whose queries name sessions without end is refused long before the rate of others', async () => {
  const { visitor, server } = budgets.lab
  const from = cuts?.ipv4[0] ?? ''
  const common = ['-sk', '--http1.1', '--interface', from, '--resolve', `${APP}:443:${server.address}`]
  const url = `https://${APP}/?${'token=pts_1&'.repeat(300)}[1-400]`
  const { stdout } = await visitor.run('curl', ...common, '-o', '/dev/null', '-w', '%{http_code}\n', url)
  const answers = stdout.trim().split('\n')
  expect(answers.filter((status) => status === '200').length).toBeGreaterThan(150)
  expect(answers.filter((status) => status === '429').length).toBeGreaterThan(100)
  await budgets.othersAreServed()
})
