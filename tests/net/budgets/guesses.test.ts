import { ATTACKERS, startBudgetLab } from '@postern/testkit/lab/budgets'
import type { Host } from '@postern/testkit/lab/network'
import { shared } from '@postern/testkit/shared'
import { until } from '@postern/testkit/until'
import { visit } from '@postern/testkit/visitor'
import { expect, test } from 'vitest'

const budgets = shared(() => startBudgetLab())

const [HOST, PATH] = ['203.0.113.1', '/api/auth/login']
/** A hundred sources in five networks. */
const FROM = ATTACKERS.flatMap(({ network }) => network.slice(0, 20))
/** Fewer than fit in the queue, and more than are checked while an answer is on its way. */
const FEW = 30

async function signIn(from: Host): Promise<void> {
  const account = JSON.stringify({ username: 'admin', password: 'lab-password-1' })
  expect(
    (await visit(from, `https://${HOST}${PATH}`, { args: ['-m', '55', '--json', account] })).status,
  ).toBe(200)
}

/** @returns how many guesses were checked before somebody who came when the queue was full was let in */
async function guessesBefore(from: Host): Promise<number> {
  const first = JSON.stringify({ username: 'admin', password: 'a guess' })
  const body = { first, length: first.length, type: 'application/json' }
  const guess = { host: HOST, path: PATH, method: 'POST', body, streams: 3 } as const
  const attack = budgets.attack({ ...guess, from: FROM, connections: FROM.length })
  await until('the line to be full', () => attack.output().includes('"503":'))
  await signIn(from)
  const looked = [...attack.output().matchAll(/"401":(\d+)/g)].at(-1)?.[1]
  await attack.stop()
  return Number(looked ?? 0)
}

test('an address that has signed in before does not wait for guesses from many networks', async () => {
  await signIn(budgets.lab.site)
  expect(await guessesBefore(budgets.lab.site)).toBeLessThan(FEW)
})

test('another address waits for only a few of them', async () => {
  expect(await guessesBefore(budgets.lab.visitor)).toBeLessThan(FEW)
})
