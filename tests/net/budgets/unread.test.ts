import { IPV4, NETWORK, startBudgetLab } from '@postern/testkit/lab/budgets'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { describe, expect, onTestFinished, test } from 'vitest'

const budgets = shared(startBudgetLab)

describe.each([
  ['one IPv4 address', IPV4],
  ['one IPv6 /48', NETWORK],
])('%s', (_, from) => {
  test('that reads no answers takes neither the memory nor the console from others', async () => {
    await budgets.hundredArrive()
    await budgets.othersAreServed()
    const before = budgets.memory()
    const large = { host: budgets.lab.server.address, path: '/install/postern', window: 0 }
    const attack = budgets.attack({ ...large, from, connections: 195, streams: 100 })
    onTestFinished(() => attack.stop())
    await until('all to be asked', () => attack.output().includes('asked'))
    const page = `https://${budgets.lab.server.address}/install/postern`
    for (const end = performance.now() + 3000; performance.now() < end; ) {
      await budgets.othersAreServed()
      expect((await visit(budgets.lab.site, page)).status).toBe(200)
    }
    console.info(`HAProxy has ${budgets.memory()} kB, ${before} before`)
    // In kB: some 110 for each request of its budget. Without a budget it is 1,700,000.
    expect(budgets.memory() - before).toBeLessThan(400_000)
    await attack.stop()
    await until('the memory to be given back', () => budgets.memory() < 1.2 * before)
  })
})
