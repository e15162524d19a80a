import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DesiredState, StateAnswer } from '@postern/contract/edge/desired-state'
import type { EdgeReport } from '@postern/contract/edge/edge-messages'
import { parseSettings } from '@postern/contract/settings/settings'
import { pino } from 'pino'
import { expect } from 'vitest'
import type { PartResult } from '../src/drivers/part.ts'
import type { WireGuardWanted } from '../src/drivers/tunnel/admission.ts'
import { Loop, type LoopOptions } from '../src/loop.ts'
import { createTargetFinder } from '../src/targets.ts'
import { answerOf } from './factories.ts'
import { makeFakeNames } from './fake-names.ts'

export const OK = { state: 'ok', detail: '' } as const

/** Parts that take no time; `order` has those that were applied. */
export function makeParts(order: string[] = []) {
  const made = async (name: string): Promise<PartResult> => {
    order.push(name)
    return { part: OK, problems: [] }
  }
  const driver = { remove: async () => undefined, isAsLeft: async () => true }
  const names = makeFakeNames()
  return {
    haproxy: {
      apply: async () => (await made('haproxy')).problems,
      state: () => OK,
      check: async () => OK,
      needsAnotherApply: () => false,
      heldPorts: () => [],
    },
    nftables: {
      ...driver,
      apply: () => made('nftables'),
      facts: () => ({ ipv4Only: [], ipv6Only: [], held: [] }),
      readCounts: async () => undefined,
      isIsolating: () => true,
    },
    wireguard: {
      ...driver,
      apply: () => made('wireguard'),
      admit: async ({ peers }: WireGuardWanted) => peers,
    },
    names,
    targets: createTargetFinder(names),
    observeMachine: () => ({ ownNetworks: [], ownPorts: [] }),
  } satisfies Partial<LoopOptions>
}

/** The real loop with these parts and a server that answers with `state`; start it, and close it when done. */
export function makeLoop(
  state: () => DesiredState | Promise<DesiredState>,
  changes: Partial<LoopOptions> = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'pte-'))
  const news = new EventTarget()
  const reports: EdgeReport[] = []
  const loop = new Loop({
    settings: parseSettings({}),
    ...makeParts(),
    observerProblems: () => [],
    hasKernelChanged: () => false,
    onRoutes: () => undefined,
    logsQueries: () => false,
    fetchState: async (known) => withoutKnown(answerOf(await state()), known),
    report(report) {
      reports.push(report)
      news.dispatchEvent(new Event('report'))
    },
    onReady: () => undefined,
    onState: () => undefined,
    lastGoodFile: join(dir, 'state.json'),
    random: Math.random,
    log: pino({ level: 'silent' }),
    ...changes,
  })
  return {
    loop,
    reports,
    /** Waits until the last report fulfils this. */
    async reported(isIt: (report: EdgeReport) => boolean): Promise<EdgeReport> {
      for (;;) {
        const last = reports.at(-1)
        if (last && isIt(last)) return last
        await new Promise((resolve) => news.addEventListener('report', resolve, { once: true }))
      }
    },
    async applied(revision: number): Promise<void> {
      const { applied } = await this.reported((report) => report.applied >= revision)
      expect(applied).toBe(revision)
    },
    async close() {
      await loop.close()
      rmSync(dir, { recursive: true })
    },
  }
}

/** A server does not send settings again that the edge already has. */
function withoutKnown(
  { hashes, sections, revision }: StateAnswer,
  known: Record<string, string>,
): StateAnswer {
  const { settings, ...rows } = sections
  const hash = JSON.stringify(settings)
  return {
    revision,
    hashes: { ...hashes, settings: hash },
    sections: known.settings === hash ? rows : sections,
  }
}
