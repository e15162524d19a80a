import { join } from 'node:path'
import type { EdgeReport, PartState } from '@postern/contract/edge'
import { parseSettings } from '@postern/contract/settings'
import { tempDir } from '@postern/testkit/temp-dir'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { answerOf, makeState } from '../test/factories.ts'
import { makeFakeNames } from '../test/fake-names.ts'
import type { WireGuardWanted } from './drivers/tunnel/admission.ts'
import { Loop, type LoopOptions } from './loop.ts'
import { createTargetFinder } from './targets.ts'

/** Time stands still: whatever waits for a timer waits for ever. */
vi.mock('node:timers/promises', () => ({ setTimeout: () => new Promise(() => undefined) }))

let dir: string
let loop: Loop
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
  dir = tempDir()
})
afterEach(async () => {
  await loop.close()
  vi.useRealTimers()
})

test('no timer is between a hint and the report that it is applied, also after a burst', async () => {
  let revision = 7
  const reports = reportsOf(() => ({ ...makeState(), revision }))
  await loop.start()
  await reports.until(7)
  for (revision = 8; revision <= 12; revision++) {
    loop.hint(revision)
    await reports.until(revision)
  }
  for (; revision < 200; revision++) loop.hint(revision)
  loop.hint(revision)
  await reports.until(revision)
})

test('a part that fails holds back no other', async () => {
  let nftables: PartState = { state: 'failed', detail: 'no room' }
  let revision = 7
  const reports = reportsOf(() => ({ ...makeState(), revision }), { nftables: () => nftables })
  await loop.start()
  await reports.until(0, (report) => report.inForce.haproxy === 7)
  expect(reports.last()).toMatchObject({
    ...{ wanted: 7, applied: 0, inForce: { haproxy: 7, wireguard: 7, nftables: 0 } },
    dataPlane: { haproxy: OK, wireguard: OK, nftables },
  })
  nftables = OK
  loop.hint(++revision)
  await reports.until(8)
  expect(reports.last()?.inForce).toEqual({ haproxy: 8, wireguard: 8, nftables: 8 })
})

test('a first start waits for a server that takes its time, and reports nothing meanwhile', async () => {
  const answer = Promise.withResolvers<ReturnType<typeof makeState>>()
  const onReady = vi.fn()
  const reports = reportsOf(() => answer.promise, { onReady })
  await loop.start()
  await vi.advanceTimersByTimeAsync(29_000)
  expect([reports.count(), onReady.mock.calls]).toEqual([0, []])
  answer.resolve(makeState())
  await reports.until(7)
  expect(onReady.mock.calls).toEqual([[{ haproxy: OK, wireguard: OK, nftables: OK }]])
})

test('a server that never answers does not hold up the start for ever', async () => {
  const onReady = vi.fn()
  const reports = reportsOf(() => new Promise(() => undefined), { onReady })
  await loop.start()
  await vi.advanceTimersByTimeAsync(31_000)
  expect([reports.count(), onReady.mock.calls]).toEqual([0, [[null]]])
})

const OK = { state: 'ok', detail: '' } as const

/** Makes the loop, of parts that take no time. */
function reportsOf(
  state: () => ReturnType<typeof makeState> | Promise<ReturnType<typeof makeState>>,
  {
    onReady = () => undefined,
    nftables = () => OK,
  }: Partial<Pick<LoopOptions, 'onReady'>> & { nftables?: () => PartState } = {},
) {
  const driver = {
    apply: async () => ({ part: OK, problems: [] }),
    remove: async () => undefined,
    isAsLeft: async () => true,
    admit: async ({ peers }: WireGuardWanted) => peers,
    facts: () => ({ ipv4Only: [], ipv6Only: [], held: [] }),
  }
  const names = makeFakeNames()
  const reports = new EventTarget()
  let last: EdgeReport | undefined
  let count = 0
  loop = new Loop({
    settings: parseSettings({}),
    haproxy: {
      apply: async () => [],
      state: () => OK,
      check: async () => OK,
      needsAnotherApply: () => false,
      heldPorts: () => [],
    },
    wireguard: driver,
    nftables: {
      ...driver,
      apply: async () => ({ part: nftables(), problems: [] }),
      readCounts: async () => undefined,
      isIsolating: () => true,
    },
    names,
    targets: createTargetFinder(names),
    observeMachine: () => ({ ownNetworks: [], ownPorts: [] }),
    observerProblems: () => [],
    hasKernelChanged: () => false,
    onRoutes: () => undefined,
    fetchState: async () => answerOf(await state()),
    report(report: EdgeReport) {
      last = report
      count++
      reports.dispatchEvent(new Event('report'))
    },
    onReady,
    onState: () => undefined,
    lastGoodFile: join(dir, 'state.json'),
    random: Math.random,
    log: pino({ level: 'silent' }),
  })
  return {
    count: () => count,
    last: () => last,
    async until(wanted: number, isIt = (report: EdgeReport) => report.applied >= wanted) {
      while (!last || !isIt(last))
        await new Promise((resolve) => reports.addEventListener('report', resolve, { once: true }))
      expect(last.applied).toBe(wanted)
    },
  }
}
