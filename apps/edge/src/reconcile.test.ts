import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { holdState, makePeer, makeRoute, makeState } from '../test/factories.ts'
import { makeFakeNames } from '../test/fake-names.ts'
import { makeUdpRoute } from '../test/udp-lab.ts'
import type { PartResult } from './drivers/part.ts'
import type { HeldState } from './held-state.ts'
import { type ReconcileParts, reconcile, type TunnelAndFirewall } from './reconcile.ts'
import { createTargetFinder } from './targets.ts'

const OK = { state: 'ok', detail: '' } as const
const FULL = { isQuick: false, others: { kept: undefined, isDue: async () => true } }

/** Everything is made right, but what is kept. */
async function reconcileAll(parts: ReconcileParts, state: HeldState, kept?: TunnelAndFirewall) {
  const others = { kept, isDue: async () => false }
  const lanes = reconcile(parts, state, { isQuick: kept !== undefined, others })
  const [haproxy, made] = await Promise.all([lanes.haproxy, lanes.others])
  if (!made) throw new Error('tunnel and firewall were left alone')
  return { haproxy, others: made }
}

it('leads visitors away from a peer before the tunnel lets go of it', async () => {
  const order: string[] = []
  await reconcileAll(partsThatRecord(order, 50), holdState(makeState()))
  expect(order).toEqual(['haproxy', 'nftables', 'wireguard'])
})

it('makes the tunnel right also while HAProxy takes its time', async () => {
  const order: string[] = []
  await reconcileAll(partsThatRecord(order, 1500), holdState(makeState()))
  expect(order).toEqual(['nftables', 'wireguard', 'haproxy'])
})

it('tells the firewall of a UDP service that changes, not the tunnel, and of nothing else', async () => {
  const order: string[] = []
  const parts = partsThatRecord(order, 0)
  const { address: _, ...udp } = makeUdpRoute(10, 32_670)
  const stateOf = (port: number) =>
    holdState(makeState({ ports: [{ ...udp, backend: { host: null, port } }] }))
  const first = await reconcileAll(parts, stateOf(53))
  order.length = 0
  const second = await reconcileAll(parts, stateOf(54), first.others)
  expect(order.sort()).toEqual(['haproxy', 'nftables'])
  order.length = 0
  const state = stateOf(54)
  const third = await reconcileAll(parts, state, second.others)
  order.length = 0
  await reconcileAll(parts, state, third.others)
  expect(order).toEqual(['haproxy'])
})

it('HAProxy is done while the tunnel takes its time', async () => {
  const parts = partsThatRecord([], 0)
  const tunnel = Promise.withResolvers<PartResult>()
  parts.wireguard.apply = () => tunnel.promise
  const { haproxy, others } = reconcile(parts, holdState(makeState()), FULL)
  expect(await haproxy).toMatchObject({ isInForce: true, problems: [] })
  tunnel.resolve({ part: { state: 'failed', detail: 'slow' }, problems: [] })
  expect((await others)?.wireguard.part).toEqual({ state: 'failed', detail: 'slow' })
})

it('leaves tunnel and firewall to an earlier apply that still has them', async () => {
  const order: string[] = []
  const lanes = reconcile(partsThatRecord(order, 0), holdState(makeState()), {
    isQuick: true,
    others: undefined,
  })
  await lanes.haproxy
  expect([lanes.others, order]).toEqual([undefined, ['haproxy']])
})

it('dials no host of a network that the tunnel leaves out', async () => {
  const subnets = ['192.168.7.0/24']
  const gateway = { kind: 'gateway', id: 2, address4: '10.64.0.3', subnets } as const
  const route = makeRoute(1, { node: gateway, backend: { proto: 'http', host: '192.168.7.9', port: 80 } })
  const state = holdState(makeState({ peers: [makePeer(2, { subnets })], routes: [route] }))
  const parts = partsThatRecord([], 0)
  const dialled: (string | null | undefined)[] = []
  parts.onRoutes = (sections) => dialled.push([...sections.values()].flat()[0]?.address)
  await reconcileAll(parts, state)
  parts.wireguard.admit = async ({ peers }) => peers.map((peer) => ({ ...peer, subnets: [] }))
  const { others } = await reconcileAll(parts, state)
  await reconcileAll(parts, state, others)
  expect(dialled).toEqual(['192.168.7.9', null, null])
})

it('HAProxy is told again when the tunnel has other networks than it was told', async () => {
  const state = holdState(makeState({ peers: [makePeer(1), makePeer(2, { subnets: ['192.168.7.0/24'] })] }))
  const parts = partsThatRecord([], 0)
  const apply = parts.wireguard.apply
  expect((await reconcileAll(parts, state)).others.needsAnotherApply).toBe(false)
  parts.wireguard.apply = async (wanted) => {
    parts.wireguard.admit = async ({ peers }) => peers.map((peer) => ({ ...peer, subnets: [] }))
    return apply(wanted)
  }
  const { others } = await reconcileAll(parts, state)
  expect(others.needsAnotherApply).toBe(true)
  expect((await reconcileAll(parts, state, others)).others.needsAnotherApply).toBe(false)
})

it('a full disk is one problem of the edge, and no failure of a HAProxy that runs', async () => {
  const parts = partsThatRecord([], 0)
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  parts.haproxy.apply = async () => {
    throw full
  }
  parts.nftables.apply = async () => {
    throw full
  }
  const { haproxy, others } = await reconcileAll(parts, holdState(makeState()))
  const message = "The edge's disk is full: what runs keeps running, and changes wait. Free some space there."
  const problem = { scope: { kind: 'edge' }, message }
  expect(haproxy).toMatchObject({ problems: [problem], part: OK, isInForce: false, isDiskFull: true })
  expect(others.nftables).toMatchObject({ problems: [problem], part: { state: 'failed', detail: message } })
  expect(others.wireguard).toEqual({ problems: [], part: OK })
})

it('a machine that cannot be looked at is a problem, and ends nothing', async () => {
  const observeMachine = () => {
    throw new Error('no right to read')
  }
  const order: string[] = []
  const parts = { ...partsThatRecord(order, 0), observeMachine }
  const { haproxy, others } = await reconcileAll(parts, holdState(makeState()))
  const problem = { scope: { kind: 'edge' }, message: 'HAProxy: no right to read' }
  expect(haproxy).toMatchObject({ problems: [problem], isInForce: false })
  expect(others).toMatchObject({
    wireguard: { problems: [], part: OK },
    nftables: { problems: [], part: OK },
  })
  expect(order).toEqual(['nftables', 'wireguard'])
})

function partsThatRecord(order: string[], haproxyTakes: number): ReconcileParts {
  const record = (name: string): Promise<PartResult> => {
    order.push(name)
    return Promise.resolve({ part: OK, problems: [] })
  }
  const names = makeFakeNames()
  return {
    haproxy: {
      apply: async () => {
        await delay(haproxyTakes)
        order.push('haproxy')
        return []
      },
      needsAnotherApply: () => false,
      heldPorts: () => [],
      state: () => OK,
      check: () => Promise.resolve(OK),
    },
    nftables: {
      apply: () => record('nftables'),
      isIsolating: () => true,
      facts: () => ({ ipv4Only: [], ipv6Only: [], held: [] }),
      isAsLeft: async () => true,
      readCounts: async () => undefined,
      remove: () => Promise.resolve(),
    },
    wireguard: {
      apply: () => record('wireguard'),
      admit: async ({ peers }) => peers,
      isAsLeft: async () => true,
      remove: () => Promise.resolve(),
    },
    names,
    targets: createTargetFinder(names),
    observeMachine: () => ({ ownNetworks: [], ownPorts: [] }),
    onRoutes: () => undefined,
    log: pino({ level: 'silent' }),
  }
}
