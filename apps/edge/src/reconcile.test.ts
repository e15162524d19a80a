import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { makeState } from '../test/factories.ts'
import type { PartResult } from './part.ts'
import { type ReconcileParts, reconcile } from './reconcile.ts'

it('leads visitors away from a peer before the tunnel lets go of it', async () => {
  const order: string[] = []
  await reconcile(partsThatRecord(order, 50), makeState(), { kept: undefined, isQuick: false })
  expect(order).toEqual(['haproxy', 'nftables', 'wireguard'])
})

it('makes the tunnel right also while HAProxy takes its time', async () => {
  const order: string[] = []
  await reconcile(partsThatRecord(order, 1500), makeState(), { kept: undefined, isQuick: false })
  expect(order).toEqual(['nftables', 'wireguard', 'haproxy'])
})

it('a machine that cannot be looked at is a problem, and ends nothing', async () => {
  const observeMachine = () => {
    throw new Error('no right to read')
  }
  const order: string[] = []
  const parts = { ...partsThatRecord(order, 0), observeMachine }
  const outcome = await reconcile(parts, makeState(), { kept: undefined, isQuick: false })
  expect(outcome.problems).toEqual([{ scope: { kind: 'edge' }, message: 'HAProxy: no right to read' }])
  expect(outcome.isApplied).toBe(false)
  expect(order).toEqual(['nftables', 'wireguard'])
})

function partsThatRecord(order: string[], haproxyTakes: number): ReconcileParts {
  const ok = { state: 'ok', detail: '' } as const
  const record = (name: string): Promise<PartResult> => {
    order.push(name)
    return Promise.resolve({ part: ok, problems: [] })
  }
  return {
    haproxy: {
      apply: async () => {
        await delay(haproxyTakes)
        order.push('haproxy')
        return []
      },
      isBehind: () => false,
      check: () => Promise.resolve(ok),
    },
    nftables: { apply: () => record('nftables'), remove: () => Promise.resolve() },
    wireguard: { apply: () => record('wireguard'), remove: () => Promise.resolve() },
    names: {
      find: () => ({ addresses: [], reason: null }),
      refresh: () => undefined,
      isBusy: () => false,
      settled: () => Promise.resolve(),
      close: () => undefined,
    },
    observeMachine: () => ({ ownNetworks: [], ownPorts: [] }),
    log: pino({ level: 'silent' }),
  }
}
