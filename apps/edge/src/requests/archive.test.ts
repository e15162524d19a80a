import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import type { FoundRequests, KeptSearch } from '@postern/contract/requests/kept'
import { makeKept } from '@postern/testkit/kept-requests'
import { tempDir } from '@postern/testkit/temp-dir'
import { until } from '@postern/testkit/until'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRequestArchive, type RequestArchive } from './archive.ts'
import { createRequestStore, DiskFullError, type RequestStore } from './store.ts'

let directory: string
let archive: RequestArchive
let sent: EdgeMessage[]
let told: number
let asks = 0

beforeEach(() => {
  directory = join(tempDir(), 'requests')
  sent = []
  told = 0
})
afterEach(() => archive.close())

async function start(change: (store: RequestStore) => Partial<RequestStore> = () => ({})): Promise<void> {
  const store = createRequestStore({
    directory,
    limits: () => ({ maxBytes: 1e9, maxAge: 1e12 }),
    reserve: 0,
    now: Date.now,
  })
  archive = createRequestArchive({
    store: { ...store, ...change(store) },
    now: Date.now,
    log: pino({ level: 'silent' }),
    send: (message) => sent.push(message) > 0,
    onProblem: () => told++,
  })
  await archive.start()
}
const searchFor = (ask: number): KeptSearch => ({
  ...{ ask, limit: 1000, before: null, after: null },
  filter: {
    ...{ from: null, to: null, services: null, type: null, status: null, method: null },
    ...{ source: null, path: null, person: null, reason: null, minTotal: null },
  },
})
async function find(): Promise<FoundRequests['found']> {
  const ask = ++asks
  archive.search(searchFor(ask))
  const answer = await until('the answer', () =>
    sent.find((message) => message.type === 'found' && message.ask === ask),
  )
  return answer.type === 'found' ? answer.found : []
}
const problem = () => archive.problems().map(({ message }) => message)[0]

test('what came is found at once, and after another start', async () => {
  await start()
  archive.keep(makeKept({ path: '/1' }))
  expect((await find()).map(({ path }) => path)).toEqual(['/1'])
  archive.keep(makeKept({ path: '/2' }))
  await archive.close()
  await start()
  expect((await find()).map(({ path }) => path)).toEqual(['/2', '/1'])
  expect([problem(), told]).toEqual([undefined, 0])
})

test('a full disk costs what comes meanwhile, says so once, and goes on by itself', async () => {
  let isFull = true
  await start((store) => ({
    async append(requests) {
      if (isFull) throw new DiskFullError()
      await store.append(requests)
    },
  }))
  for (let n = 0; n < 3; n++) {
    archive.keep(makeKept({ path: '/lost' }))
    expect(await find()).toEqual([])
  }
  expect(problem()).toMatch(/^The disk of the edge is full: 3 requests were not kept since 20\S+Z\. Keeping/)
  expect(told).toBe(1)
  isFull = false
  archive.keep(makeKept({ path: '/kept' }))
  expect((await find()).map(({ path }) => path)).toEqual(['/kept'])
  // What was lost is said for a while.
  expect(problem()).toMatch(/^Not all requests could be kept: 3 requests since/)
})

test('a disk that hangs takes a bounded number, and slows nobody who brings one', async () => {
  const hanging = Promise.withResolvers<void>()
  await start(() => ({ append: () => hanging.promise }))
  const began = performance.now()
  for (let n = 0; n < 100_000; n++) archive.keep(makeKept())
  expect(performance.now() - began).toBeLessThan(2000)
  // Four batches that wait, and the one that comes together.
  expect(problem()).toContain(`${(100_000 - 5 * 8192).toLocaleString('en-US')} requests`)
  hanging.resolve()
})

test('a directory that cannot be used is a problem until it can', async () => {
  mkdirSync(join(directory, '..'), { recursive: true })
  writeFileSync(directory, 'a file in its place')
  await start()
  for (let n = 0; n < 8193; n++) archive.keep(makeKept())
  expect(problem()).toMatch(/^Requests cannot be kept: (EEXIST|ENOTDIR)/)
  rmSync(directory)
})

test('lines of the proxy that were lost are said, too', async () => {
  await start()
  archive.noteLost(7)
  expect(problem()).toContain('7 requests')
})

test('nobody gets an answer to a search that is forgotten, and too many are not taken', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await start((store) => ({
    async append(requests) {
      await held
      await store.append(requests)
    },
  }))
  archive.keep(makeKept())
  for (let ask = 1001; ask <= 1100; ask++) archive.search(searchFor(ask))
  archive.forget(1003)
  release()
  await until('the answers', () => sent.length === 31)
  expect(sent.some((message) => message.type === 'found' && message.ask === 1003)).toBe(false)
})
