import type { DesiredState } from '@postern/contract/desired-state'
import type { DataPlane, EdgeReport, PartState, Problem } from '@postern/contract/edge'
import { type Below, type Outcome, tidy } from './reconcile.ts'

/** What the loop knows between two passes. */
export interface Memory {
  state: DesiredState | undefined
  /** What of the server's answer could not be read. */
  unread: Problem[]
  wanted: number
  applied: number
  /** Revision and hashes of the state on disk; undefined until this process has written it. */
  saved: string | undefined
  outcome: Outcome | undefined
  /** What the parts below HAProxy were made from, while they need not be looked at again. */
  kept: { key: string; below: Below } | undefined
  /** The next apply looks at every part, also at those that should still be as they were left. */
  isDue: boolean
  /** What we hold may not be what the server thinks we hold. */
  isDoubtful: boolean
  isReady: boolean
}

export function createMemory(): Memory {
  return {
    state: undefined,
    unread: [],
    wanted: 0,
    applied: 0,
    saved: undefined,
    outcome: undefined,
    kept: undefined,
    isDue: true,
    isDoubtful: false,
    isReady: false,
  }
}

const NO_STATE: PartState = { state: 'failed', detail: 'The server has not said yet what is wanted.' }

export function dataPlaneOf(memory: Memory): DataPlane {
  return memory.outcome?.dataPlane ?? { haproxy: NO_STATE, wireguard: NO_STATE, nftables: NO_STATE }
}

/** @param observer what keeps this machine from being observed */
export function reportOf(memory: Memory, observer: readonly Problem[]): EdgeReport {
  return {
    wanted: memory.wanted,
    applied: memory.applied,
    problems: tidy([...observer, ...memory.unread, ...(memory.outcome?.problems ?? [])]),
    dataPlane: dataPlaneOf(memory),
  }
}
