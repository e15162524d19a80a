import type { DataPlane, EdgeReport, PartState, Problem } from '@postern/contract/edge'
import type { Settings } from '@postern/contract/settings'
import type { Logger } from 'pino'
import type { HeldState } from './held-state.ts'
import { createLastGood, type LastGood } from './last-good.ts'
import { type Below, type Outcome, type ReconcileParts, tidy } from './reconcile.ts'

export interface LoopOptions extends ReconcileParts {
  /** What this edge itself was set to, which every state must fit. */
  settings: Pick<Settings, 'POSTERN_TUNNEL_NETWORK' | 'POSTERN_PUBLIC_HOST'>
  /** The body of a StateAnswer; throws when the server does not give one. */
  fetchState(known: Record<string, string>): Promise<unknown>
  report(report: EdgeReport): void
  /** Called once, after the first apply or when there is nothing to apply for too long. */
  onReady(dataPlane: DataPlane): void
  onState(state: HeldState): void
  /** What keeps this machine from being observed. */
  observerProblems(): Problem[]
  lastGoodFile: string
  random: () => number
  log: Logger
}

/** What the loop knows between two passes. */
export interface Memory {
  state: HeldState | undefined
  /** What of the server's answer could not be read. */
  unread: Problem[]
  /** Why the server's last answer was not taken at all. */
  refusal: string | undefined
  wanted: number
  applied: number
  /** The state on disk. */
  lastGood: LastGood
  outcome: Outcome | undefined
  /** What the parts below HAProxy were made from, while they need not be looked at again. */
  kept: Kept | undefined
  /** The next apply looks at every part, also at those that should still be as they were left. */
  fullCheckDue: boolean
  /** What we hold may not be what the server thinks we hold. */
  needsFullState: boolean
  isReady: boolean
}

interface Kept extends Pick<HeldState, 'settings' | 'peers'> {
  below: Below
}

export function createMemory(options: Pick<LoopOptions, 'lastGoodFile'>): Memory {
  return {
    state: undefined,
    unread: [],
    refusal: undefined,
    wanted: 0,
    applied: 0,
    lastGood: createLastGood(options.lastGoodFile),
    outcome: undefined,
    kept: undefined,
    fullCheckDue: true,
    needsFullState: false,
    isReady: false,
  }
}

const NO_STATE: PartState = { state: 'failed', detail: 'The server has not said yet what is wanted.' }

export function dataPlaneOf(memory: Memory): DataPlane {
  return memory.outcome?.dataPlane ?? { haproxy: NO_STATE, wireguard: NO_STATE, nftables: NO_STATE }
}

/** @param observer what keeps this machine from being observed */
export function reportOf(memory: Memory, observer: readonly Problem[]): EdgeReport {
  const { refusal, unread } = memory
  const refused: Problem[] = refusal === undefined ? [] : [{ scope: { kind: 'edge' }, message: refusal }]
  return {
    wanted: memory.wanted,
    applied: memory.applied,
    problems: tidy([...refused, ...observer, ...unread, ...(memory.outcome?.problems ?? [])]),
    dataPlane: dataPlaneOf(memory),
  }
}
