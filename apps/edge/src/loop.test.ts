import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EdgeReport } from '@postern/contract/edge'
import { parseSettings } from '@postern/contract/settings'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { answerOf, makeState } from '../test/factories.ts'
import { makeFakeNames } from '../test/fake-names.ts'
import { Loop } from './loop.ts'
import { createTargetFinder } from './targets.ts'

/** Time stands still: whatever waits for a timer waits for ever. */
vi.mock('node:timers/promises', () => ({ setTimeout: () => new Promise(() => undefined) }))

let dir: string
let loop: Loop
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
  dir = mkdtempSync(join(tmpdir(), 'pte-'))
})
afterEach(async () => {
  await loop.close()
  vi.useRealTimers()
  rmSync(dir, { recursive: true })
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

/** Makes the loop, of parts that take no time. */
function reportsOf(state: () => ReturnType<typeof makeState>) {
  const part = { state: 'ok', detail: '' } as const
  const driver = {
    apply: async () => ({ part, problems: [] }),
    remove: async () => undefined,
    isAsLeft: async () => true,
  }
  const names = makeFakeNames()
  const reports = new EventTarget()
  let applied = 0
  loop = new Loop({
    settings: parseSettings({}),
    haproxy: { apply: async () => [], check: async () => part, needsAnotherApply: () => false },
    wireguard: driver,
    nftables: driver,
    names,
    targets: createTargetFinder(names),
    observeMachine: () => ({ ownNetworks: [], ownPorts: [] }),
    observerProblems: () => [],
    hasKernelChanged: () => false,
    onRoutes: () => undefined,
    fetchState: async () => answerOf(state()),
    report(report: EdgeReport) {
      applied = report.applied
      reports.dispatchEvent(new Event('report'))
    },
    onReady: () => undefined,
    onState: () => undefined,
    lastGoodFile: join(dir, 'state.json'),
    random: Math.random,
    log: pino({ level: 'silent' }),
  })
  return {
    async until(wanted: number) {
      while (applied < wanted)
        await new Promise((resolve) => reports.addEventListener('report', resolve, { once: true }))
      expect(applied).toBe(wanted)
    },
  }
}
