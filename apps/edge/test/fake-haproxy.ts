import { EventEmitter } from 'node:events'
import type { PartState, Problem } from '@postern/contract/edge/edge'
import { rowsOf } from '@postern/contract/sections'
import type { ResolvedRoute } from '@postern/render/resolved-route'
import type { Reading } from '../src/counts/reading.ts'
import type { HaproxyLog } from '../src/drivers/haproxy/logs/log.ts'
import type { EdgeHaproxy } from '../src/edge.ts'

type Wanted = Omit<Parameters<EdgeHaproxy['apply']>[0], 'routes'> & { routes: ResolvedRoute[] }

/** A fake HAProxy, for tests of the code around its driver. */
export interface FakeHaproxy extends EdgeHaproxy {
  /** All the states it was asked for, in order. */
  applied: { wanted: Wanted }[]
  nodes: ReadonlyMap<number, 'up' | 'down'>
  part: PartState
  problems: Problem[]
  /** The counts that it returns. */
  counted: Reading | undefined
  /** If set, every apply fails with it. */
  failure: Error | undefined
  logs: EventEmitter<{ line: [HaproxyLog] }>
}

export function makeFakeHaproxy(): FakeHaproxy {
  const fake: FakeHaproxy = {
    applied: [],
    logs: new EventEmitter(),
    counts: { reads: async () => [async () => fake.counted], onLast: () => undefined },
    counted: undefined,
    nodes: new Map(),
    part: { state: 'ok', detail: 'a fake HAProxy' },
    problems: [],
    failure: undefined,
    lookup: {
      findRoute: async () => undefined,
      findList: async () => undefined,
      isDown: async (node) => fake.nodes.get(Number(node)) === 'down',
    },
    async apply(wanted) {
      const routes = rowsOf(wanted.routes)
      fake.applied.push({ wanted: { ...wanted, routes } })
      if (fake.failure) throw fake.failure
      return fake.problems
    },
    findVitals: async () => undefined,
    needsAnotherApply: () => false,
    heldPorts: () => [],
    state: () => fake.part,
    check: async () => fake.part,
    async setNodeStates(states) {
      fake.nodes = states
    },
    close: async () => undefined,
  }
  return fake
}
