import { EventEmitter } from 'node:events'
import type { PartState, Problem } from '@postern/contract/edge'
import type { ResolvedRoute } from '@postern/render/resolved-route'
import type { HaproxyLog } from '../src/drivers/haproxy/logs/line.ts'
import type { EdgeHaproxy } from '../src/edge.ts'
import { rowsOf } from '../src/held-state.ts'

type Wanted = Omit<Parameters<EdgeHaproxy['apply']>[0], 'routes'> & { routes: ResolvedRoute[] }

/** A HAProxy on paper, for tests of what is around its driver. */
export interface PaperHaproxy extends EdgeHaproxy {
  /** All that was wanted of it, in order, and when, in ms of the performance clock. */
  applied: { wanted: Wanted; at: number }[]
  nodes: ReadonlyMap<number, 'up' | 'down'>
  state: PartState
  problems: Problem[]
  /** Set, every apply fails with it. */
  failure: Error | undefined
  logs: EventEmitter<{ line: [HaproxyLog] }>
}

export function makePaperHaproxy(): PaperHaproxy {
  const paper: PaperHaproxy = {
    applied: [],
    logs: new EventEmitter(),
    nodes: new Map(),
    state: { state: 'ok', detail: 'HAProxy on paper' },
    problems: [],
    failure: undefined,
    async apply(wanted) {
      const routes = rowsOf(wanted.routes)
      paper.applied.push({ wanted: { ...wanted, routes }, at: performance.now() })
      if (paper.failure) throw paper.failure
      return paper.problems
    },
    isBehind: () => false,
    check: async () => paper.state,
    async setNodeStates(states) {
      paper.nodes = states
    },
    close: async () => undefined,
  }
  return paper
}
