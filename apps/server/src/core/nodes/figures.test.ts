import { join } from 'node:path'
import type { PeerFigures } from '@postern/contract/edge/edge-messages'
import { tempDir } from '@postern/testkit/temp-dir'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { createLiveBus, type Hint } from '../../changes/live.ts'
import { openLiveDatabase } from '../../db/open.ts'
import { createLiveFigures, statusOf } from './figures.ts'

let dir: string
beforeEach(() => {
  dir = tempDir()
})

const peer = (nodeId: number, latestHandshake: number | null, reachable = true): PeerFigures => ({
  nodeId,
  latestHandshake,
  rx: 5,
  tx: 6,
  clientIp: '198.51.100.7',
  reachable,
})

test('the status follows the tunnel', () => {
  const now = 1_000_000
  expect(statusOf(true, undefined, now)).toBe('offline')
  expect(statusOf(true, peer(1, null), now)).toBe('offline')
  expect(statusOf(true, peer(1, now - 180_000), now)).toBe('online')
  expect(statusOf(true, peer(1, now - 180_001), now)).toBe('offline')
  expect(statusOf(true, peer(1, now, false), now)).toBe('idle')
  expect(statusOf(false, peer(1, now), now)).toBe('offline')
})

async function start(clock: () => number, hints: Hint[] = []) {
  const bus = createLiveBus((error) => {
    throw error
  })
  bus.listen((hint) => hints.push(hint))
  const liveDb = openLiveDatabase(join(dir, 'live.db'))
  const live = await createLiveFigures({ liveDb, bus, log: pino({ level: 'silent' }), clock })
  return {
    live,
    end: async () => {
      await live.dispose()
      await liveDb.destroy()
    },
  }
}

test('figures survive a restart, those of a deleted node do not', async () => {
  const first = await start(() => 0)
  first.live.update(1, [peer(2, 7), peer(3, 8)])
  first.live.remove(3)
  // Sent by an edge that does not know of the deletion yet.
  first.live.update(1, [peer(3, 9)])
  expect(first.live.find(3)).toBeUndefined()
  await first.end()
  const second = await start(() => 0)
  expect(second.live.find(2)).toEqual(peer(2, 7))
  expect(second.live.find(3)).toBeUndefined()
  await second.end()
})

test('hints only at changes, and only once at a vanished node', async () => {
  let now = 0
  const hints: Hint[] = []
  const { live, end } = await start(() => now, hints)
  live.update(1, [peer(2, 0), peer(3, 0)])
  live.update(1, [peer(2, 0), peer(3, 1)])
  live.update(1, [peer(2, 0)])
  expect(hints).toEqual([
    { kind: 'figures', nodes: [2, 3], turned: [2, 3] },
    { kind: 'figures', nodes: [3], turned: [] },
  ])
  now = 180_001
  live.expire()
  live.expire()
  expect(hints.slice(2)).toEqual([{ kind: 'figures', nodes: [2], turned: [2] }])
  await end()
})

test('neither a new tunnel nor a restart makes a node look as if it had never connected', async () => {
  const gone = { ...peer(2, null, false), rx: 0, tx: 0, clientIp: null }
  const first = await start(() => 10)
  first.live.update(1, [peer(2, 7)])
  first.live.update(1, [gone])
  expect(first.live.find(2)).toEqual(peer(2, 7, false))
  await first.end()
  const second = await start(() => 200_000)
  second.live.update(1, [gone])
  expect(second.live.find(2)).toEqual(peer(2, 7, false))
  expect(statusOf(true, second.live.find(2), 200_000)).toBe('offline')
  second.live.update(1, [{ ...peer(2, 199_000), rx: 1 }])
  expect(second.live.find(2)).toEqual({ ...peer(2, 199_000), rx: 1 })
  await second.end()
})

test('a node that is connected again is not online before the tunnel shows it', async () => {
  const { live, end } = await start(() => 10)
  live.update(1, [peer(2, 7)])
  live.doubt(2)
  expect(statusOf(true, live.find(2), 10)).toBe('idle')
  live.doubt(3)
  expect(live.find(3)).toBeUndefined()
  await end()
})

test('several edges: what they carried is summed, and a node is as near as it is to the edge that heard of it last', async () => {
  let now = 500_000
  const hints: Hint[] = []
  const { live, end } = await start(() => now, hints)
  live.update(1, [peer(2, 400_000)])
  live.update(4, [{ ...peer(2, 450_000), rx: 10, tx: 20, clientIp: '198.51.100.9' }])
  const both = { ...peer(2, 450_000), rx: 15, tx: 26, clientIp: '198.51.100.9' }
  expect(live.find(2)).toEqual(both)
  expect(live.findAt(1, 2)).toEqual(peer(2, 400_000))
  expect(live.findAt(5, 2)).toBeUndefined()
  // An edge that the node does not know tells nothing of it, and takes nothing away.
  live.update(5, [{ ...peer(2, null, false), rx: 0, tx: 0, clientIp: null }])
  expect(live.find(2)).toEqual(both)
  expect(live.findAt(5, 2)?.latestHandshake).toBeNull()
  hints.length = 0
  // It vanishes at one edge, which its services have to show.
  now = 600_000
  live.expire()
  expect(hints).toEqual([{ kind: 'figures', nodes: [2], turned: [2] }])
  expect(statusOf(true, live.find(2), now)).toBe('online')
  // That one says so long after it last heard of it.
  live.update(4, [{ ...peer(2, 590_000, false), rx: 10, tx: 20 }])
  expect(statusOf(true, live.find(2), now)).toBe('idle')
  live.removeEdge(4)
  expect(live.find(2)).toEqual(peer(2, 400_000))
  await end()
})
