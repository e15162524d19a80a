import { type BudgetLab, IPV4, NETWORK, startBudgetLab } from '@postern/testkit/lab/budgets'
import { until } from '@postern/testkit/until'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

let budgets: BudgetLab

beforeAll(async () => {
  budgets = await startBudgetLab()
})

afterAll(async () => {
  await budgets?.close()
})

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
