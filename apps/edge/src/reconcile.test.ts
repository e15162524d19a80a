import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import { holdState, makePeer, makeRoute, makeState } from '../test/factories.ts'
import { makeFakeNames } from '../test/fake-names.ts'
import { makeUdpRoute } from '../test/udp-lab.ts'
import type { PartResult } from './drivers/part.ts'
import { type HaproxyOutcome, type ReconcileParts, reconcile } from './reconcile.ts'
import { createTargetFinder } from './targets.ts'

const FULL = { tunnelAndFirewall: undefined, isQuick: false, onAhead: () => undefined }

it('leads visitors away from a peer before the tunnel lets go of it', async () => {
  const order: string[] = []
  await reconcile(partsThatRecord(order, 50), holdState(makeState()), FULL)
  expect(order).toEqual(['haproxy', 'nftables', 'wireguard'])
})

it('makes the tunnel right also while HAProxy takes its time', async () => {
  const order: string[] = []
  await reconcile(partsThatRecord(order, 1500), holdState(makeState()), FULL)
  expect(order).toEqual(['nftables', 'wireguard', 'haproxy'])
})

it('tells the firewall of a UDP service that changes, not the tunnel, and of nothing else', async () => {
  const order: string[] = []
  const parts = partsThatRecord(order, 0)
  const { address: _, ...udp } = makeUdpRoute(10, 32_670)
  const stateOf = (port: number) =>
    holdState(makeState({ ports: [{ ...udp, backend: { host: null, port } }] }))
  const first = await reconcile(parts, stateOf(53), FULL)
  order.length = 0
  const scope = { ...FULL, tunnelAndFirewall: first.tunnelAndFirewall, isQuick: true }
  const second = await reconcile(parts, stateOf(54), scope)
  expect(order.sort()).toEqual(['haproxy', 'nftables'])
  order.length = 0
  const state = stateOf(54)
  const third = await reconcile(parts, state, { ...scope, tunnelAndFirewall: second.tunnelAndFirewall })
  order.length = 0
  await reconcile(parts, state, { ...scope, tunnelAndFirewall: third.tunnelAndFirewall })
  expect(order).toEqual(['haproxy'])
})

it('says that HAProxy is done when the tunnel takes its time', async () => {
  const parts = partsThatRecord([], 0)
  const tunnel = Promise.withResolvers<PartResult>()
  parts.wireguard.apply = () => tunnel.promise
  const ahead = Promise.withResolvers<HaproxyOutcome>()
  const outcome = reconcile(parts, holdState(makeState()), { ...FULL, onAhead: ahead.resolve })
  expect(await ahead.promise).toMatchObject({ isInForce: true, problems: [] })
  tunnel.resolve({ part: { state: 'failed', detail: 'slow' }, problems: [] })
  expect((await outcome).isInForce).toEqual({ haproxy: true, wireguard: false, nftables: true })
})

it('says it once when the tunnel is quick', async () => {
  const onAhead = vi.fn()
  await reconcile(partsThatRecord([], 0), holdState(makeState()), { ...FULL, onAhead })
  expect(onAhead).not.toHaveBeenCalled()
})

it('dials no host of a network that the tunnel leaves out', async () => {
  const subnets = ['192.168.7.0/24']
  const gateway = { kind: 'gateway', id: 2, address4: '10.64.0.3', subnets } as const
  const route = makeRoute(1, { node: gateway, backend: { proto: 'http', host: '192.168.7.9', port: 80 } })
  const state = holdState(makeState({ peers: [makePeer(2, { subnets })], routes: [route] }))
  const parts = partsThatRecord([], 0)
  const dialled: (string | null | undefined)[] = []
  parts.onRoutes = (sections) => dialled.push([...sections.values()].flat()[0]?.address)
  await reconcile(parts, state, FULL)
  parts.wireguard.admit = async ({ peers }) => peers.map((peer) => ({ ...peer, subnets: [] }))
  const { tunnelAndFirewall } = await reconcile(parts, state, FULL)
  await reconcile(parts, state, { ...FULL, tunnelAndFirewall })
  parts.wireguard.admit = () => Promise.reject(new Error('ip did not end'))
  await reconcile(parts, state, FULL)
  expect(dialled).toEqual(['192.168.7.9', null, null, null])
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
  const { dataPlane, isInForce, isDiskFull, problems } = await reconcile(parts, holdState(makeState()), FULL)
  const message = "The edge's disk is full: what runs keeps running, and changes wait. Free some space there."
  const problem = { scope: { kind: 'edge' }, message }
  expect(problems).toEqual({ haproxy: [problem], others: [problem] })
  expect(dataPlane.haproxy.state).toBe('ok')
  expect(dataPlane.nftables).toEqual({ state: 'failed', detail: message })
  expect(isInForce).toEqual({ haproxy: false, wireguard: true, nftables: false })
  expect(isDiskFull).toBe(true)
})

it('a machine that cannot be looked at is a problem, and ends nothing', async () => {
  const observeMachine = () => {
    throw new Error('no right to read')
  }
  const order: string[] = []
  const parts = { ...partsThatRecord(order, 0), observeMachine }
  const outcome = await reconcile(parts, holdState(makeState()), FULL)
  expect(outcome.problems).toEqual({
    haproxy: [{ scope: { kind: 'edge' }, message: 'HAProxy: no right to read' }],
    others: [],
  })
  expect(outcome.isInForce).toEqual({ haproxy: false, wireguard: true, nftables: true })
  expect(order).toEqual(['nftables', 'wireguard'])
})

function partsThatRecord(order: string[], haproxyTakes: number): ReconcileParts {
  const ok = { state: 'ok', detail: '' } as const
  const record = (name: string): Promise<PartResult> => {
    order.push(name)
    return Promise.resolve({ part: ok, problems: [] })
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
      state: () => ok,
      check: () => Promise.resolve(ok),
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
