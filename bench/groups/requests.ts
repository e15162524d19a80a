import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeptFilter, KeptRequest } from '@postern/contract/requests/kept'
import { costMs } from '@postern/testkit/time'
import { pino } from 'pino'
import { parseLogLine } from '../../apps/edge/src/drivers/haproxy/logs/line.ts'
import { createRequestArchive } from '../../apps/edge/src/requests/archive.ts'
import { searchRequests } from '../../apps/edge/src/requests/search.ts'
import { createRequestStore } from '../../apps/edge/src/requests/store.ts'
import type { Measured } from '../figures.ts'
import { median } from '../measure.ts'
import type { Effort } from '../sizes.ts'

const SECRET = '0123456789abcdef0123456789abcdef'
const DAY = 86_400_000
const START = Date.UTC(2026, 10, 26)
/** What a search of so many shall take a second for. */
const SEARCHED = 10_000_000
const SECOND_MS = 1000
/** What keeping so many a second may take of a processor. */
const A_SECOND = 10_000
const HALF_MS = 500
const BATCH = 8192
const LINES = 10 * A_SECOND

/** What it costs an edge to keep requests, and to look through a day of them. */
export async function measureRequests({ keptRequests }: Effort): Promise<Measured[]> {
  const directory = mkdtempSync(join(tmpdir(), 'pt-bench-'))
  try {
    return [
      {
        name: 'requests: kept, beside half a processor',
        unit: 'ms',
        heavy: await costOfKeeping(join(directory, 'kept')),
        light: HALF_MS,
      },
      {
        name: 'requests: a search of a day',
        unit: 'ms',
        heavy: ((await costOfSearch(join(directory, 'day'), keptRequests)) * SEARCHED) / keptRequests,
        light: SECOND_MS,
      },
    ]
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function openStore(directory: string) {
  return createRequestStore({
    directory,
    limits: () => ({ maxBytes: 1e12, maxAge: 1e15 }),
    reserve: 0,
    now: Date.now,
  })
}

/** From HAProxy's lines to a file, for a second of them. */
async function costOfKeeping(directory: string): Promise<number> {
  const store = openStore(directory)
  const log = pino({ level: 'silent' })
  const archive = createRequestArchive({ store, now: Date.now, log, send: () => true, onProblem: () => {} })
  await archive.start()
  const lines = Array.from({ length: LINES }, (_, index) => lineOf(index))
  const cost = await costMs(async () => {
    for (let start = 0; start < LINES; start += A_SECOND / 10) {
      for (const line of lines.slice(start, start + A_SECOND / 10)) {
        const kept = parseLogLine(line, SECRET)?.log?.kept
        if (kept) archive.keep(kept)
      }
      // As they come: a tenth of a second of them at a time.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await archive.close()
  })
  if (archive.problems().length > 0) throw new Error('not all requests were kept')
  return (cost * A_SECOND) / LINES
}

function lineOf(index: number): string {
  const { service, status, source, sent, received, total, connect, response, target, path } = requestOf(
    index,
    1,
  )
  const facts = [service, index, status, '--', '0', START + index, source, sent, received, total, connect]
  return ['E', SECRET, ...facts, response, target, '-', '-', '-', `GET ${path}`].join('|')
}

/** By service and status, where neither spares a look into a block. */
async function costOfSearch(directory: string, count: number): Promise<number> {
  const store = openStore(directory)
  await store.open()
  for (let first = 0; first < count; first += BATCH) {
    const rows = Math.min(BATCH, count - first)
    await store.append(Array.from({ length: rows }, (_, row) => requestOf(first + row, DAY / count)))
    if (await store.closeDue()) await store.tidy()
  }
  await store.close()
  await store.tidy()
  // There are services with 404, but not this one.
  const filter: KeptFilter = {
    ...{ from: START, to: START + DAY, services: [7], status: [404, 404] },
    ...{ type: null, method: null, source: null, path: null, person: null, reason: null, minTotal: null },
  }
  const asked = { filter, limit: 1000, before: null, after: null }
  const parts = { store, now: Date.now, log: pino({ level: 'silent' }) }
  const search = () => searchRequests(parts, asked, 600_000, new AbortController().signal)
  const costs: number[] = []
  for (let round = 0; round < 3; round++) costs.push(await costMs(search))
  return median(costs)
}

function requestOf(index: number, ms: number): KeptRequest {
  const hash = Math.imul(index, 2_654_435_761) >>> 0
  const service = 1 + (hash % 200)
  return {
    ...{ at: START + Math.floor(index * ms), type: 'http', service, method: 'GET', query: null },
    ...{ person: null, reason: null, detail: null, path: `/api/items/${hash % 1_000_003}` },
    source: `203.0.${hash % 50}.${(hash >>> 8) % 250}`,
    status: service !== 7 && hash % 20 === 0 ? 404 : 200,
    ...{ received: hash % 900, sent: hash % 60_000, connect: hash % 9, response: hash % 800 },
    total: hash % 900,
    target: `10.64.0.${2 + (hash % 200)}:8080`,
  }
}
