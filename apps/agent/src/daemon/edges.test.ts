import type { WgPeer } from '@postern/host/wg-dump'
import { expect, test } from 'vitest'
import { config } from '../wanted.fixture.ts'
import { parseWanted, type WantedPeer } from '../wanted.ts'
import { createEdges } from './edges.ts'

const first = parseWanted(config).peers[0]
const far: WantedPeer = {
  ...first,
  id: 4,
  name: 'far',
  publicKey: 'far',
  host: 'far.example',
  port: 7,
  edgeAddress: '10.64.255.2',
}

/** Two edges that answer as the test says, at a time that it sets. */
function startEdges() {
  const world = { now: 1_000_000, back: 0, pending: [] as ((answers: boolean) => void)[], silent: new Set() }
  const edges = createEdges({
    listAddresses: async (host) =>
      host === 'far.example' ? ['203.0.113.9', '203.0.113.10'] : ['203.0.113.1'],
    isAnswering: (address) =>
      world.silent.has(address)
        ? new Promise((resolve) => world.pending.push(resolve))
        : Promise.resolve(true),
    onBack: () => {
      world.back++
    },
    now: () => world.now,
    random: () => 0,
  })
  const found = (): WgPeer => ({
    ...{ publicKey: '', presharedKey: '', endpoint: null, allowedIps: [] },
    ...{ latestHandshake: world.now, rx: 0, tx: 0, keepaliveSeconds: 25 },
  })
  return { world, edges, found }
}

test('one that has gone silent is waited for three times, and then heard of when it is back', async () => {
  const { world, edges, found } = startEdges()
  const [near, away] = edges.follow([first, far])
  if (!near || !away) throw new Error('two edges')
  await away.refresh(false)
  world.silent.add(far.edgeAddress)
  for (let miss = 1; miss <= 3; miss++) {
    const judged = away.judge(found(), false)
    world.pending.pop()?.(false)
    expect(await judged).toEqual({
      state: 'no-traffic',
      problem:
        'The tunnel handshake with the edge far at 203.0.113.9:7 works, but 10.64.255.2 does not answer inside the tunnel',
    })
    expect([away.isUnsure(), away.isBroken()]).toEqual([miss < 3, miss === 3])
  }
  // Nobody answers the probe yet, and nobody waits for it.
  expect(await away.judge(found(), false)).toMatchObject({ state: 'no-traffic' })
  expect(await away.judge({ ...found(), latestHandshake: null }, false)).toEqual({
    state: 'no-handshake',
    problem:
      'The edge far does not answer at 203.0.113.9:7 over UDP. Open UDP port 7 in its firewall, and allow outgoing UDP here',
  })
  expect(await near.judge(found(), false)).toEqual({ state: 'online', problem: null })
  expect([world.pending.length, world.back]).toEqual([1, 0])
  world.pending.pop()?.(true)
  await new Promise(setImmediate)
  expect(world.back).toBe(1)
  expect(await away.judge(found(), false)).toEqual({ state: 'online', problem: null })
  expect(away.isBroken()).toBe(false)
})

test('one that is broken is looked for again with growing pauses, at its next address', async () => {
  const { world, edges } = startEdges()
  const [, away] = edges.follow([first, far])
  if (!away) throw new Error('two edges')
  await away.refresh(false)
  expect(away.isRetryDue()).toBe(false)
  for (let miss = 0; miss < 3; miss++) await away.judge(undefined, true)
  const due: number[] = []
  for (const start = world.now; world.now < start + 20_000; world.now += 500)
    if (away.isRetryDue()) due.push(world.now - start)
  expect(due).toEqual([0, 1000, 3000, 7000, 15_000])
  await away.refresh(true)
  expect(away.endpoint.current()).toBe('203.0.113.10')
  expect(away.endpoint.all()).toEqual(['203.0.113.9', '203.0.113.10'])
})

test('what is known of an edge stays while its key and host do, whatever others come and go', async () => {
  const { edges } = startEdges()
  const [, away] = edges.follow([first, far])
  expect(edges.follow([first, { ...far, port: 8 }])[1]).toBe(away)
  expect(away?.peer.port).toBe(8)
  expect(edges.follow([far])[0]).toBe(away)
  expect(away?.isOnly).toBe(true)
  expect(edges.follow([{ ...far, publicKey: 'another' }])[0]).not.toBe(away)
})
