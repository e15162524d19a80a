import type { LogLine } from '@postern/contract/edge/edge-messages'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogRings } from './log-rings.ts'

let batches: LogLine[][]
let isUp: boolean
const send = (lines: LogLine[]) => {
  if (isUp) batches.push(lines)
  return isUp
}
const texts = () => batches.flat().map((line) => line.text)

beforeEach(() => {
  vi.useFakeTimers()
  batches = []
  isUp = true
})
afterEach(() => vi.useRealTimers())

test('nothing is sent unwatched; a new watcher gets the kept lines, then the new ones', () => {
  const rings = createLogRings({ send })
  for (let i = 1; i <= 3; i++) rings.push({ service: 7, text: `old ${i}` })
  rings.push({ service: 8, text: 'of another' })
  vi.advanceTimersByTime(1000)
  expect(batches).toEqual([])
  rings.watch([7])
  rings.push({ service: 7, text: 'new' })
  rings.push({ service: 8, text: 'of another' })
  vi.advanceTimersByTime(100)
  expect(texts()).toEqual(['old 1', 'old 2', 'old 3', 'new'])
  rings.watch([7, 8])
  vi.advanceTimersByTime(100)
  expect(texts().slice(4)).toEqual(['of another', 'of another'])
  rings.watch([])
  rings.push({ service: 7, text: 'unheard' })
  vi.advanceTimersByTime(100)
  expect(texts()).not.toContain('unheard')
})

test('lines are numbered overall and for each service', () => {
  const rings = createLogRings({ send })
  rings.watch([1, 2])
  for (const service of [1, 2, 1]) rings.push({ service: service, text: 'x' })
  vi.advanceTimersByTime(100)
  expect(batches.flat().map(({ service, seq, number }) => [service, seq, number])).toEqual([
    [1, 1, 1],
    [2, 2, 1],
    [1, 3, 2],
  ])
})

test('each service keeps its last thousand lines, and all together not more than the limit', () => {
  const rings = createLogRings({ send, capacity: 2500 })
  for (const service of [1, 2, 3])
    for (let i = 1; i <= 1200; i++) rings.push({ service: service, text: `${service}.${i}` })
  rings.watch([1])
  rings.watch([1, 2])
  vi.advanceTimersByTime(100)
  expect(texts()).toHaveLength(1000)
  expect([texts()[0], texts().at(-1)]).toEqual(['2.201', '2.1200'])
  expect(batches.map((batch) => batch.length)).toEqual([1000])
})

test('what cannot be sent in time is dropped, and the numbers show it', () => {
  const rings = createLogRings({ send })
  rings.watch([1])
  for (let i = 1; i <= 25_000; i++) rings.push({ service: 1, text: 'x' })
  vi.advanceTimersByTime(100)
  rings.push({ service: 1, text: 'after' })
  vi.advanceTimersByTime(100)
  const numbers = batches.flat().map((line) => line.number)
  expect(numbers).toHaveLength(20_001)
  expect(numbers.at(-1)).toBe(25_001)
  isUp = false
  rings.push({ service: 1, text: 'lost' })
  vi.advanceTimersByTime(100)
  isUp = true
  rings.push({ service: 1, text: 'heard' })
  vi.advanceTimersByTime(100)
  expect(batches.flat().at(-1)).toMatchObject({ number: 25_003, text: 'heard' })
})

test("a line with a visitor's text is one line of bounded length", () => {
  const rings = createLogRings({ send })
  rings.watch([1])
  rings.push({ service: 1, text: `GET /\n[INFO] forged\x1b[31m${'x'.repeat(5000)}` })
  vi.advanceTimersByTime(100)
  expect(texts()[0]).toMatch(/^GET \/\?\[INFO\] forged\?\[31mx+$/)
  expect(texts()[0]).toHaveLength(2048)
})
