import { IPV4, NETWORK, startBudgetLab } from '@postern/testkit/lab/budgets'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { describe, expect, onTestFinished, test } from 'vitest'

const budgets = shared(startBudgetLab)

describe.each([
  ['one IPv4 address', IPV4],
  ['one IPv6 /48', NETWORK],
])('%s', (_, from) => {
  test('that holds as many requests as it can ends nobody else’s, nor HAProxy', async () => {
    const pid = budgets.installation.haproxyPid()
    const attack = budgets.attack({ from, connections: 195, streams: 100, path: '/' })
    onTestFinished(() => attack.stop())
    await until('all to be asked', () => attack.output().includes('asked'))
    await budgets.hundredArrive()
    for (const end = performance.now() + 5000; performance.now() < end; ) await budgets.othersAreServed()
    expect(attack.output()).toContain('"429":')
    expect(budgets.installation.haproxyPid()).toBe(pid)
    expect(budgets.installation.edge.output()).not.toContain('not as wanted')
  })
})
