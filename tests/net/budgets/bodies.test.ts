import { APP, CLOSED, IPV4, NETWORK, SLOW, startBudgetLab } from '@postern/testkit/lab/budgets'
import type { Http2Crowd } from '@postern/testkit/programs/http2-crowd'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, onTestFinished, test } from 'vitest'

const budgets = shared(startBudgetLab)

const body = { length: 100_000, first: 'x' }
const post = { method: 'POST', connections: 6, streams: 100 } as const

/** The console, by the server's address. */
const CONSOLE = '203.0.113.1'
const login = { ...body, type: 'application/json' }

const WAYS: [string, Omit<Http2Crowd, 'server' | 'from'>][] = [
  ['beginnings of bodies to a service', { ...post, host: APP, path: '/', body }],
  [
    'bodies that a service never answers',
    { ...post, host: SLOW, path: '/', body: { length: 1, first: 'x' } },
  ],
  ['beginnings of sign-ins', { ...post, host: CONSOLE, path: '/api/auth/login', body: login }],
  ['requests that fail', { connections: 100, streams: 100, host: CLOSED, path: '/', window: 0 }],
]

describe.each([
  ['one IPv4 address', IPV4],
  ['one IPv6 /48', NETWORK],
])('%s', (_, from) => {
  test.each(WAYS)('with %s stops neither the bodies of others nor the sign-in', async (_way, crowd) => {
    const attack = budgets.attack({ ...crowd, from })
    onTestFinished(() => attack.stop())
    await until('all to be asked', () => attack.output().includes('asked'))
    for (const end = performance.now() + 3000; performance.now() < end; ) await budgets.othersAreServed()
    expect(attack.output()).toMatch(/"(429|503)":/)
  })
})
