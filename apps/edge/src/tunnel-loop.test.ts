import { setTimeout as delay } from 'node:timers/promises'
import type { DesiredState } from '@postern/contract/edge/desired-state'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makePeer, makeRoute, makeState } from '../test/factories.ts'
import { makeLoop, makeParts, OK } from '../test/make-loop.ts'
import { makeUdpRoute } from '../test/udp-lab.ts'
import type { PartResult } from './drivers/part.ts'
import type { LoopOptions } from './loop.ts'

let order: string[]
let parts: ReturnType<typeof makeParts>
let at: ReturnType<typeof makeLoop>
let state: DesiredState
beforeEach(() => {
  order = []
  parts = makeParts(order)
  state = makeState()
})
afterEach(() => at.close())

/** The loop has applied the state. */
async function start(changes: Partial<LoopOptions> = {}): Promise<void> {
  at = makeLoop(() => state, { ...parts, ...changes })
  await at.loop.start()
  await at.applied(7)
}

/**
 * The server wants something else. Unchanged sections have the same hash.
 * @returns what the edge then does
 */
async function want(changes: Partial<DesiredState>): Promise<string[]> {
  const done = announce(changes)
  await at.applied(state.revision)
  return done
}

function announce(changes: Partial<DesiredState>): string[] {
  order.length = 0
  const { hashes: _, ...rest } = state
  state = makeState({ ...rest, ...changes, revision: state.revision + 1 })
  at.loop.hint(state.revision)
  return order
}

function haproxyThatTakes(ms: number) {
  return {
    ...parts.haproxy,
    apply: async () => {
      await delay(ms)
      return parts.haproxy.apply()
    },
  }
}

it('leads visitors away from a peer before the tunnel lets go of it', async () => {
  await start({ haproxy: haproxyThatTakes(50) })
  expect(order).toEqual(['haproxy', 'nftables', 'wireguard'])
})

it('repairs the tunnel even while HAProxy is slow', async () => {
  await start({ haproxy: haproxyThatTakes(1500) })
  expect(order).toEqual(['nftables', 'wireguard', 'haproxy'])
})

it('applies a changed UDP service to the firewall, not to the tunnel, and nothing else', async () => {
  const { address: _, ...udp } = makeUdpRoute(10, 32_670)
  const portsAt = (port: number) => ({ ports: [{ ...udp, backend: { host: null, port } }] })
  state = makeState(portsAt(53))
  await start()
  expect((await want(portsAt(54))).sort()).toEqual(['haproxy', 'nftables'])
  expect(await want({})).toEqual(['haproxy'])
})

it('HAProxy goes on while the tunnel is slow, which is left alone meanwhile', async () => {
  await start()
  const tunnel = Promise.withResolvers<PartResult>()
  let calls = 0
  parts.wireguard.apply = () => {
    calls++
    return tunnel.promise
  }
  announce({ peers: [makePeer(1)] })
  expect(await at.reported(({ inForce }) => inForce.haproxy === 8)).toMatchObject({
    ...{ wanted: 8, applied: 7, inForce: { wireguard: 7, nftables: 7 }, problems: [] },
    dataPlane: { haproxy: OK, wireguard: OK, nftables: OK },
  })
  announce({ peers: [makePeer(2)] })
  expect((await at.reported(({ inForce }) => inForce.haproxy === 9)).applied).toBe(7)
  expect(calls).toBe(1)
  tunnel.resolve({ part: { state: 'failed', detail: 'slow' }, problems: [] })
  const report = await at.reported(({ inForce }) => inForce.nftables === 9)
  expect(report.dataPlane.wireguard).toEqual({ state: 'failed', detail: 'slow' })
  expect(calls).toBe(2)
})

it('dials no host of a network that the tunnel leaves out', async () => {
  const subnets = ['192.168.7.0/24']
  const gateway = { kind: 'gateway', id: 2, address4: '10.64.0.3', subnets } as const
  const route = makeRoute(1, { node: gateway, backend: { proto: 'http', host: '192.168.7.9', port: 80 } })
  state = makeState({ peers: [makePeer(2, { subnets })], routes: [route] })
  const dialled: (string | null | undefined)[] = []
  await start({ onRoutes: (sections) => dialled.push([...sections.values()].flat()[0]?.address) })
  parts.wireguard.admit = async ({ peers }) => peers.map((peer) => ({ ...peer, subnets: [] }))
  await want({})
  await want({})
  expect(dialled).toEqual(['192.168.7.9', null, null])
})

it('HAProxy is applied again when the tunnel gets other networks', async () => {
  state = makeState({ peers: [makePeer(1), makePeer(2, { subnets: ['192.168.7.0/24'] })] })
  await start()
  expect(order.filter((name) => name === 'haproxy')).toHaveLength(1)
  const { apply } = parts.wireguard
  parts.wireguard.apply = async () => {
    parts.wireguard.admit = async ({ peers }) => peers.map((peer) => ({ ...peer, subnets: [] }))
    return apply()
  }
  const done = await want({ peers: [...state.peers, makePeer(3)] })
  await at.loop.close()
  expect(done).toEqual(['haproxy', 'nftables', 'wireguard', 'haproxy'])
})

it('a full disk is one problem of the edge, and no failure of a HAProxy that runs', async () => {
  await start()
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  const fail = async () => {
    throw full
  }
  Object.assign(parts.haproxy, { apply: fail })
  Object.assign(parts.nftables, { apply: fail })
  announce({ peers: [makePeer(1)] })
  const message = "The edge's disk is full: what runs keeps running, and changes wait. Free some space there."
  const problem = { scope: { kind: 'edge' }, message }
  expect(await at.reported(({ inForce }) => inForce.wireguard === 8)).toMatchObject({
    ...{ problems: [problem, problem], isStuck: true, inForce: { haproxy: 7, nftables: 7 } },
    dataPlane: { haproxy: OK, wireguard: OK, nftables: { state: 'failed', detail: message } },
  })
})

it('a machine that cannot be read is a problem, and ends nothing', async () => {
  let isBroken = false
  await start({
    observeMachine() {
      if (isBroken) throw new Error('no right to read')
      return parts.observeMachine()
    },
  })
  order.length = 0
  isBroken = true
  at.loop.requestApply()
  const problem = { scope: { kind: 'edge' }, message: 'HAProxy: no right to read' }
  expect(await at.reported(({ problems }) => problems.length > 0)).toMatchObject({
    problems: [problem],
    dataPlane: { wireguard: OK, nftables: OK },
  })
  expect(order).toEqual([])
})

it('has the firewall follow the addresses of the public host, and leaves the tunnel alone', async () => {
  let addresses = ['203.0.113.1']
  const applied: unknown[] = []
  const { nftables } = parts
  state = makeState({ peers: [makePeer(1, { allowInternet: true })] })
  await start({
    names: { ...parts.names, find: () => ({ addresses, reason: null }) },
    nftables: {
      ...nftables,
      apply: (wanted) => {
        applied.push(wanted.fronts)
        return nftables.apply()
      },
    },
  })
  order.length = 0
  addresses = ['203.0.113.2']
  // As a changed answer does.
  at.loop.requestApply()
  await expect.poll(() => applied).toEqual([['203.0.113.1'], ['203.0.113.2']])
  expect(order).not.toContain('wireguard')
})
