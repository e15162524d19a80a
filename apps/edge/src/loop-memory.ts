import type { DesiredState } from '@postern/contract/desired-state'
import type { DataPlane, EdgeReport, PartState, Problem } from '@postern/contract/edge'
import { type Below, type Outcome, tidy } from './reconcile.ts'

/** What the loop knows between two passes. */
export interface Memory {
  state: DesiredState | undefined
  /** What of the server's answer could not be read. */
  unread: Problem[]
  /** Why the server's last answer was not taken at all. */
  refusal: string | undefined
  wanted: number
  applied: number
  /** Revision and hashes of the state on disk; undefined until this process has written it. */
  saved: string | undefined
  outcome: Outcome | undefined
  /** What the parts below HAProxy were made from, while they need not be looked at again. */
  kept: Kept | undefined
  /** The next apply looks at every part, also at those that should still be as they were left. */
  isDue: boolean
  /** What we hold may not be what the server thinks we hold. */
  isDoubtful: boolean
  isReady: boolean
}

interface Kept extends Pick<DesiredState, 'settings' | 'peers'> {
  below: Below
}

export function createMemory(): Memory {
  return {
    state: undefined,
    unread: [],
    refusal: undefined,
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
  const { refusal, unread } = memory
  const refused: Problem[] = refusal === undefined ? [] : [{ scope: { kind: 'edge' }, message: refusal }]
  return {
    wanted: memory.wanted,
    applied: memory.applied,
    problems: tidy([...refused, ...observer, ...unread, ...(memory.outcome?.problems ?? [])]),
    dataPlane: dataPlaneOf(memory),
  }
}
