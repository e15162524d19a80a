import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PeerFigures } from '@postern/contract/edge'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLiveBus, type Hint } from '../../changes/live.ts'
import { openLiveDatabase } from '../../db/open.ts'
import { createLiveFigures, statusOf } from './figures.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pt-live-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const peer = (nodeId: number, latestHandshake: number | null, reachable = true): PeerFigures => ({
  nodeId,
  latestHandshake,
  rx: 5,
  tx: 6,
  clientIp: '198.51.100.7',
  reachable,
})

test('the status is what the tunnel shows', () => {
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
  first.live.update([peer(2, 7), peer(3, 8)])
  first.live.remove(3)
  // What an edge says that has not heard of it.
  first.live.update([peer(3, 9)])
  expect(first.live.find(3)).toBeUndefined()
  await first.end()
  const second = await start(() => 0)
  expect(second.live.find(2)).toEqual(peer(2, 7))
  expect(second.live.find(3)).toBeUndefined()
  await second.end()
})

test('only what is new is told, and a vanished node is told once', async () => {
  let now = 0
  const hints: Hint[] = []
  const { live, end } = await start(() => now, hints)
  live.update([peer(2, 0), peer(3, 0)])
  live.update([peer(2, 0), peer(3, 1)])
  live.update([peer(2, 0)])
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
