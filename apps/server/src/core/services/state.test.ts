import type { DataPlane, Problem } from '@postern/contract/edge/edge'
import { everywhere } from '@postern/testkit/edge-client'
import { expect, it } from 'vitest'
import { type EdgeView, serviceState } from './state.ts'

const ok = { state: 'ok', detail: '' } as const
const dataPlane: DataPlane = { haproxy: ok, wireguard: ok, nftables: ok }
const own = { id: 3, name: 'eu', address: '10.64.0.3', isLocal: false, usesFile: false }
const node = { ...own, enabled: true, status: 'online', lastSeen: 5, awayAt: [] } as const
const service = {
  id: 7,
  node,
  isNamed: false,
  isUdp: false,
  isOnNode: false,
  certificateId: 9,
  edges: null,
  revision: 42,
}
const edge = (over: Partial<EdgeView> = {}): EdgeView => ({
  ...{ id: 1, name: 'Local', isBeside: true },
  inForce: everywhere(42),
  problems: [],
  dataPlane,
  families: new Map(),
  held: { tcp: [], udp: [] },
  troubles: new Map(),
  ...over,
})
const problem = (kind: 'service' | 'certificate' | 'node', id: number): Problem => ({
  scope: { kind, id },
  message: `${kind} ${id}`,
})

it('is live when every edge has applied it', () => {
  expect(serviceState(service, [edge(), edge({ inForce: everywhere(50) })])).toEqual({
    phase: 'live',
    problem: null,
  })
})

it('is applying while one edge is behind, and says so when no edge is connected', () => {
  expect(serviceState(service, [edge(), edge({ inForce: everywhere(41) })])).toEqual({
    phase: 'applying',
    problem: null,
  })
  expect(serviceState(service, [])).toEqual({ phase: 'applying', problem: 'No edge is connected' })
  expect(serviceState(service, [edge({ dataPlane: null })]).phase).toBe('applying')
})

it('fails because of its own problem, its certificate, its node, or a proxy that does not run', () => {
  for (const own of [problem('service', 7), problem('certificate', 9), problem('node', 3)])
    expect(serviceState(service, [edge({ problems: [own] })])).toEqual({
      phase: 'failed',
      problem: own.message,
    })
  const down: DataPlane = {
    ...dataPlane,
    haproxy: { state: 'failed', detail: 'Port 443 is held by another program' },
  }
  expect(serviceState(service, [edge({ dataPlane: down })]).problem).toContain('Port 443')
})

it('is being checked until something has answered; for UDP a note says that this cannot be checked', () => {
  const unchecked = edge({ troubles: new Map([[7, 'unchecked']]) })
  expect(serviceState(service, [unchecked])).toEqual({ phase: 'checking', problem: null })
  const away = { ...node, status: 'offline' } as const
  expect(serviceState({ ...service, node: away }, [unchecked]).phase).toBe('node-offline')
  expect(serviceState({ ...service, isUdp: true }, [edge()])).toEqual({
    phase: 'live',
    problem: null,
    note: 'Whether a UDP service answers cannot be checked',
  })
})

it("does not fail because of another one's problem", () => {
  const others = [problem('service', 3), problem('certificate', 7), problem('node', 9)]
  expect(serviceState(service, [edge({ problems: others })]).phase).toBe('live')
})

it('is live with a note when visitors can use only one kind of address', () => {
  const noteOf = (family: 4 | 6) =>
    serviceState(service, [edge({ families: new Map([[7, family]]) }), edge()])
  expect(noteOf(4)).toEqual({
    phase: 'live',
    problem: null,
    note: 'IPv4 only: the backend has no IPv6 address',
  })
  expect(noteOf(6).note).toBe('IPv6 only: the backend has no IPv4 address')
})

it('is unanswered when its backend is in trouble, unless something on our side is wrong', () => {
  const troubles = new Map([[7, 'refused' as const]])
  const state = serviceState(service, [edge({ troubles })])
  expect(state.phase).toBe('unanswered')
  expect(state.problem).toMatch(/^The service refused the connection/)
  const failed = serviceState(service, [edge({ troubles, problems: [problem('service', 7)] })])
  expect(failed.phase).toBe('failed')
  expect(serviceState(service, [edge({ troubles, inForce: everywhere(41) })]).phase).toBe('applying')
  expect(serviceState({ ...service, id: 8 }, [edge({ troubles })]).phase).toBe('live')
})

it('for a program on the node itself, says where it must listen, and what else may block it', () => {
  const textOf = (usesFile: boolean, trouble: 'refused' | 'timeout', isOnNode = true) =>
    serviceState({ ...service, isOnNode, node: { ...node, usesFile } }, [
      edge({ troubles: new Map([[7, trouble]]) }),
    ]).problem
  expect(textOf(true, 'refused')).toContain('listens on 10.64.0.3, not only on 127.0.0.1')
  expect(textOf(false, 'refused')).toContain('listens on 127.0.0.1 or 10.64.0.3, not only on [::1]')
  expect(textOf(true, 'refused', false)).toContain('listens on this port')
  expect(textOf(false, 'timeout')).toContain('Check the firewall of eu, and with postern status its CLI')
  expect(textOf(true, 'timeout')).toContain('Check its address, its port and its firewall')
})

it('is applying again after a change, whatever its previous problem', () => {
  const state = serviceState(service, [edge({ inForce: everywhere(41), problems: [problem('service', 7)] })])
  expect(state.phase).toBe('applying')
})

it('needs only the parts that carry it', () => {
  const state = (parts: Partial<Record<keyof DataPlane, number>>, over: object = {}) => {
    const broken = { state: 'failed', detail: 'broken' } as const
    const failed = Object.fromEntries(Object.keys(parts).map((part) => [part, broken]))
    const view = edge({ dataPlane: { ...dataPlane, ...failed }, inForce: { ...everywhere(42), ...parts } })
    return serviceState({ ...service, ...over }, [view])
  }
  const local = { node: { ...node, isLocal: true } }
  expect(state({ wireguard: 41, nftables: 41 }, local).phase).toBe('live')
  expect(state({ nftables: 41 }).phase).toBe('live')
  expect(state({ haproxy: 41 }, { isUdp: true }).phase).toBe('live')
  // A part that fails altogether applies nothing.
  for (const failed of [
    state({ wireguard: 41 }),
    state({ haproxy: 41 }),
    state({ nftables: 41 }, { isUdp: true }),
  ])
    expect(failed).toEqual({ phase: 'failed', problem: 'broken' })
})

it.each([
  [{ status: 'offline' }, { phase: 'node-offline', problem: 'eu is offline', lastSeen: 5 }],
  [
    { status: 'offline', lastSeen: null },
    { phase: 'node-offline', problem: 'eu has never connected' },
  ],
  [{ status: 'idle' }, { phase: 'node-offline', problem: 'eu does not answer through the tunnel' }],
  [
    { status: 'offline', enabled: false },
    { phase: 'node-disconnected', problem: 'eu is disconnected' },
  ],
] as const)('is not live without its node: %j', (change, state) => {
  const away = { ...service, node: { ...node, ...change } }
  expect(serviceState(away, [edge()])).toEqual(state)
  expect(serviceState(away, [edge({ inForce: everywhere(41) })])).toEqual(state)
  expect(serviceState(away, []).problem).toBe('No edge is connected')
  expect(serviceState({ ...away, node: { ...away.node, isLocal: true } }, [edge()]).phase).toBe('live')
})

it('shows problems on our side even without its node, but not that its name cannot be looked up there', () => {
  const away = { ...service, node: { ...node, status: 'offline' as const } }
  const failing = [edge({ problems: [problem('service', 7)] })]
  expect(serviceState(away, failing).phase).toBe('failed')
  expect(serviceState({ ...away, isNamed: true }, failing).phase).toBe('node-offline')
})

it('names the edges where it is not as well as at others', () => {
  const far = (over: Partial<EdgeView> = {}) => edge({ id: 4, name: 'Frankfurt', isBeside: false, ...over })
  const refused = new Map([[7, 'refused']]) as EdgeView['troubles']
  const text = serviceState(service, [edge({ troubles: refused })]).problem
  // The same everywhere needs no name.
  expect(serviceState(service, [edge({ troubles: refused }), far({ troubles: refused })]).problem).toBe(text)
  expect(serviceState(service, [edge(), far({ troubles: refused })])).toEqual({
    phase: 'unanswered',
    problem: `Not at Frankfurt: ${text}`,
  })
  const failed = far({ problems: [problem('service', 7)] })
  expect(serviceState(service, [edge({ troubles: refused }), failed]).problem).toBe('At Frankfurt: service 7')
  const vienna = edge({ id: 5, name: 'Vienna', isBeside: false, troubles: refused })
  expect(serviceState(service, [edge(), far({ troubles: refused }), vienna]).problem).toBe(
    `Not at Frankfurt, Vienna: ${text}`,
  )
})

it('is unanswered at an edge that its node does not reach, and says where', () => {
  const far = edge({ id: 4, name: 'Frankfurt', isBeside: false })
  const partly = { ...service, node: { ...node, awayAt: [4] } }
  expect(serviceState(partly, [edge(), far])).toEqual({
    phase: 'unanswered',
    problem: 'Not at Frankfurt: eu does not answer through the tunnel',
  })
})

it('has nothing to do with edges that do not serve its domain', () => {
  const far = edge({ id: 4, name: 'Frankfurt', isBeside: false })
  const limited = { ...service, edges: [4] }
  expect(serviceState(limited, [edge({ inForce: everywhere(1) }), far]).phase).toBe('live')
  expect(serviceState(limited, [edge()])).toEqual({ phase: 'applying', problem: 'No edge is connected' })
})

it("has nothing to do with other edges on the server's own machine", () => {
  const local = { ...service, node: { ...node, isLocal: true } }
  const far = edge({ id: 4, name: 'Frankfurt', isBeside: false, inForce: everywhere(1) })
  expect(serviceState(local, [edge(), far]).phase).toBe('live')
  expect(serviceState(local, [far])).toEqual({ phase: 'applying', problem: 'No edge is connected' })
})
