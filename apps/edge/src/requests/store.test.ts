import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeptFilter, KeptRequest } from '@postern/contract/requests/kept'
import { findKept, makeKept } from '@postern/testkit/kept-requests'
import { tempDir } from '@postern/testkit/temp-dir'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { searchRequests } from './search.ts'
import { createRequestStore, DiskFullError, type RequestStore, type StoreOptions } from './store.ts'

const NOW = Date.parse('2026-11-26T12:00:00Z')
const ALL: KeptFilter = {
  from: null,
  to: null,
  services: null,
  type: null,
  status: null,
  method: null,
  source: null,
  path: null,
  person: null,
  reason: null,
  minTotal: null,
}

let directory: string
let now: number
let store: RequestStore
let closeLast = async () => {}

const openStore = async (options: Partial<StoreOptions> = {}) => {
  await closeLast()
  store = createRequestStore({
    directory,
    limits: () => ({ maxBytes: 1e9, maxAge: 7 * 86_400_000 }),
    reserve: 0,
    now: () => now,
    ...options,
  })
  closeLast = store.close
  await store.open()
  return store
}

beforeEach(async () => {
  directory = join(tempDir(), 'requests')
  now = NOW
  await openStore()
})

afterEach(() => closeLast())

interface Ask {
  limit?: number
  before?: string | null
  after?: string | null
  patience?: number
}

function search(filter: Partial<KeptFilter> = {}, { limit = 1000, patience = 60_000, ...places }: Ask = {}) {
  const parts = { store, now: Date.now, log: pino({ level: 'silent' }) }
  const asked = { filter: { ...ALL, ...filter }, limit, before: null, after: null, ...places }
  return searchRequests(parts, asked, patience, new AbortController().signal)
}
const paths = async (...ask: Parameters<typeof search>) =>
  (await search(...ask)).found.map(({ path }) => path)
const numbered = (count: number, changes: (n: number) => Partial<KeptRequest> = () => ({})) =>
  Array.from({ length: count }, (_, n) => makeKept({ at: now + n, path: `/${n}`, ...changes(n) }))
const files = () => readdirSync(directory).sort()
/** As the edge does it now and then. */
async function tidy() {
  await store.closeDue()
  await store.tidy()
}
/** Closes the journal and packs it. */
async function pack() {
  now += 3_600_000
  await tidy()
}

describe('what is kept', () => {
  test('is found as it was, in the journal and once it is packed', async () => {
    const all = [
      makeKept({ at: NOW, person: 'ann+x@example.com', query: 'a=1&b', status: null, reason: 'left' }),
      makeKept({
        type: 'udp',
        at: NOW + 1,
        method: null,
        path: null,
        received: 2 ** 40,
        sent: 0,
        total: null,
      }),
      makeKept({ type: 'tcp', at: NOW + 2, service: 4_000_000, source: '2001:db8::1', detail: 'a "word"' }),
    ]
    await store.append(all)
    const kept = async () => (await search()).found.map(({ place: _, ...request }) => request)
    expect(await kept()).toEqual(all.toReversed())
    await pack()
    expect(files()).toEqual(['0000000001.seg'])
    expect(await kept()).toEqual(all.toReversed())
    await openStore()
    expect(await kept()).toEqual(all.toReversed())
  })

  test('is for root alone', async () => {
    await store.append(numbered(1))
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    for (const packed of [false, true]) {
      if (packed) await pack()
      expect(files().map((name) => statSync(join(directory, name)).mode & 0o777)).toEqual([0o600])
    }
  })

  test('keeps its place when small blocks become a large one', async () => {
    for (let block = 0; block < 3; block++)
      await store.append(numbered(4, (n) => ({ path: `/${block}.${n}` })))
    const page = await search({}, { limit: 5 })
    expect(page.found.map(({ path }) => path)).toEqual(['/2.3', '/2.2', '/2.1', '/2.0', '/1.3'])
    await pack()
    await store.append(numbered(1, () => ({ path: '/new' })))
    expect(await paths({}, { before: page.next })).toEqual([
      ...['/1.2', '/1.1', '/1.0', '/0.3', '/0.2', '/0.1', '/0.0'],
    ])
    expect(await paths({}, { after: page.newest })).toEqual(['/new'])
  })

  test('is packed to a small part', async () => {
    await store.append(
      numbered(8000, (n) => ({ path: `/photos/${n}`, source: `203.0.113.${n % 250}`, sent: n * 7 })),
    )
    const [before] = store.segments()
    const size = before?.bytes ?? 0
    await pack()
    expect((store.segments()[0]?.bytes ?? 0) / 8000).toBeLessThan(15)
    expect((store.segments()[0]?.bytes ?? 0) * 3).toBeLessThan(size)
  })
})

describe('a search', () => {
  test('finds what a look at each request finds, whatever is asked', async () => {
    const oneOf = <T>(...values: T[]) => fc.constantFrom(...values)
    const sources = ['203.0.113.5', '203.0.113.77', '2001:db8::1']
    const request = fc.record({
      service: oneOf(1, 2, 3),
      type: oneOf('http' as const, 'tcp' as const),
      status: oneOf(null, 200, 204, 404, 503),
      method: oneOf(null, 'GET', 'POST'),
      path: oneOf(null, '/', '/a', '/ab', '/ba', '/a/b'),
      source: oneOf(...sources),
      person: oneOf(null, 'ann@example.com'),
      reason: oneOf(null, 'blocked', 'left'),
      total: oneOf(null, 0, 20, 3000),
    })
    const maybe = <T>(...values: T[]) => oneOf(null, ...values)
    const filter = fc.record({
      from: maybe(NOW + 3, NOW + 10),
      to: maybe(NOW + 7, NOW + 30),
      services: maybe([1], [2, 3], []),
      type: maybe('http' as const, 'udp' as const),
      status: maybe<[number, number]>([404, 404], [200, 299], [500, 599]),
      method: maybe('GET'),
      source: maybe('203.0.113.0/26', '2001:db8::/32'),
      path: maybe('b', '/a', 'ab', '/'),
      person: maybe('ann@example.com'),
      reason: maybe('any', 'left'),
      minTotal: maybe(1, 1000),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { maxLength: 30 }),
        filter,
        fc.integer({ min: 1, max: 12 }),
        async (rows, asked, size) => {
          directory = join(tempDir(), 'requests')
          await openStore({ segmentBytes: 1 })
          const all = rows.map((row, n) => makeKept({ ...row, at: NOW + n }))
          for (let start = 0; start < all.length; start += size) {
            await store.append(all.slice(start, start + size))
            if (start % 2 === 0) await tidy()
          }
          const wanted = findKept(all, { ask: 1, filter: asked, limit: 1000, before: null, after: null })
          const { found } = await search(asked)
          expect(found.map(({ at }) => at)).toEqual(wanted.found.map(({ at }) => at))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('ends when its time is up, and goes on from there', async () => {
    for (let block = 0; block < 6; block++)
      await store.append(numbered(3, (n) => ({ path: `/${block}.${n}` })))
    const found: unknown[] = []
    let before: string | null = null
    let steps = 0
    do {
      const page: Awaited<ReturnType<typeof search>> = await search({ path: '.1' }, { before, patience: -1 })
      found.push(...page.found.map(({ path }) => path))
      before = page.next
      steps++
    } while (before !== null && steps < 20)
    expect(found).toEqual(['/5.1', '/4.1', '/3.1', '/2.1', '/1.1', '/0.1'])
    expect(steps).toBeGreaterThan(5)
  })

  test('answers with no more than a message holds', async () => {
    await store.append(numbered(2000, (n) => ({ path: `/${'x'.repeat(1490)}${n}`, query: 'y'.repeat(1500) })))
    const page = await search()
    expect(page.found.length).toBeGreaterThan(100)
    expect(JSON.stringify(page).length).toBeLessThan(1_100_000)
    expect(page.next).toBe(page.found.at(-1)?.place)
  })
})

describe('after a kill', () => {
  test('all whole blocks are there, and the torn one is not', async () => {
    await store.append(numbered(3))
    const whole = statSync(join(directory, '0000000001.open')).size
    await store.append(numbered(3, () => ({ path: '/torn' })))
    truncateSync(join(directory, '0000000001.open'), whole + 40)
    await openStore()
    expect(await paths()).toEqual(['/2', '/1', '/0'])
    await store.append(numbered(1, () => ({ path: '/next' })))
    await tidy()
    expect(files()).toEqual(['0000000001.seg', '0000000002.open'])
    expect(await paths()).toEqual(['/next', '/2', '/1', '/0'])
  })

  test.each([0, 5, 100])('no file with damage at its byte %i is an error', async (at) => {
    await store.append(numbered(50))
    await pack()
    await store.append(numbered(50))
    for (const name of files()) {
      const bytes = readFileSync(join(directory, name))
      bytes.fill(0x5a, at, at + 30)
      writeFileSync(join(directory, name), bytes)
    }
    writeFileSync(join(directory, '0000000009.seg'), 'nothing of ours')
    writeFileSync(join(directory, '0000000010.open'), '')
    await openStore()
    await tidy()
    expect((await search()).found.length).toBeLessThanOrEqual(100)
    await store.append(numbered(1, () => ({ path: '/next' })))
    expect((await paths())[0]).toBe('/next')
  })
})

describe('what is too old or too much', () => {
  test('goes by age', async () => {
    await store.append(numbered(1, () => ({ path: '/old' })))
    await pack()
    now += 3 * 86_400_000
    await store.append(numbered(1, () => ({ path: '/new' })))
    now += 5 * 86_400_000
    await tidy()
    expect(await paths()).toEqual(['/new'])
  })

  test('goes by size, the oldest first', async () => {
    await openStore({ limits: () => ({ maxBytes: 20_000, maxAge: 1e12 }), segmentBytes: 1 })
    for (let n = 0; n < 30; n++) {
      await store.append(numbered(50, (row) => ({ path: `/${n}.${row * 7919}` })))
      await tidy()
    }
    const bytes = store.segments().reduce((sum, segment) => sum + segment.bytes, 0)
    expect(bytes).toBeLessThanOrEqual(20_000)
    expect(files().length).toBeGreaterThan(2)
    expect((await paths({}, { limit: 1 }))[0]).toContain('/29.')
    expect(await paths({ path: '/0.' })).toEqual([])
  })

  test('nothing is written when too little of the disk would stay free', async () => {
    await openStore({ reserve: 2 ** 60 })
    await expect(store.append(numbered(1))).rejects.toThrow(DiskFullError)
    expect(files()).toEqual([])
  })
})
