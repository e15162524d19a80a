import type { PartState } from '@postern/contract/edge/edge'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeState } from '../test/factories.ts'
import { makeLoop, makeParts, OK } from '../test/make-loop.ts'

/** Time stands still: whatever waits for a timer waits forever. */
vi.mock('node:timers/promises', () => ({ setTimeout: () => new Promise(() => undefined) }))

let at: ReturnType<typeof makeLoop>
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] }))
afterEach(async () => {
  await at.close()
  vi.useRealTimers()
})

test('no timer delays the report that a hint was applied, even after a burst', async () => {
  let revision = 7
  at = makeLoop(() => ({ ...makeState(), revision }))
  await at.loop.start()
  await at.applied(7)
  for (revision = 8; revision <= 12; revision++) {
    at.loop.hint(revision)
    await at.applied(revision)
  }
  for (; revision < 200; revision++) at.loop.hint(revision)
  at.loop.hint(revision)
  await at.applied(revision)
})

test('a change of routes makes one report', async () => {
  let revision = 7
  const state = makeState()
  at = makeLoop(() => ({ ...state, revision }))
  await at.loop.start()
  await at.applied(7)
  const before = at.reports.length
  at.loop.hint(++revision)
  await at.applied(8)
  expect(at.reports.slice(before).map(({ applied }) => applied)).toEqual([8])
})

test('a part that fails does not hold back the others', async () => {
  let nftables: PartState = { state: 'failed', detail: 'no room' }
  let revision = 7
  const parts = makeParts()
  at = makeLoop(() => ({ ...makeState(), revision }), {
    nftables: { ...parts.nftables, apply: async () => ({ part: nftables, problems: [] }) },
  })
  await at.loop.start()
  expect(await at.reported((report) => report.inForce.wireguard === 7)).toMatchObject({
    ...{ wanted: 7, applied: 0, inForce: { haproxy: 7, wireguard: 7, nftables: 0 } },
    dataPlane: { haproxy: OK, wireguard: OK, nftables },
  })
  nftables = OK
  at.loop.hint(++revision)
  await at.applied(8)
  expect(at.reports.at(-1)?.inForce).toEqual({ haproxy: 8, wireguard: 8, nftables: 8 })
})

test('a first start waits for a slow server, and reports nothing meanwhile', async () => {
  const answer = Promise.withResolvers<ReturnType<typeof makeState>>()
  const onReady = vi.fn()
  at = makeLoop(() => answer.promise, { onReady })
  await at.loop.start()
  await vi.advanceTimersByTimeAsync(29_000)
  expect([at.reports, onReady.mock.calls]).toEqual([[], []])
  answer.resolve(makeState())
  await at.applied(7)
  expect(onReady.mock.calls).toEqual([[{ haproxy: OK, wireguard: OK, nftables: OK }]])
})

test('a server that never answers does not hold up the start forever', async () => {
  const onReady = vi.fn()
  at = makeLoop(() => new Promise(() => undefined), { onReady })
  await at.loop.start()
  await vi.advanceTimersByTimeAsync(31_000)
  expect([at.reports, onReady.mock.calls]).toEqual([[], [[null]]])
})
