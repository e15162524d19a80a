import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '@postern/host/errors'
import { syncDirectory, writeAtomic } from '@postern/host/files'
import type { Logger } from 'pino'
import * as z from 'zod/mini'
import { addTo, type Count } from './pack.ts'

/**
 * All that each service has carried since the counters began, for those who watch: counters that never go back, or
 * begin at zero. They are in memory, and on disk only from the end of a server to the beginning of the next one: after
 * a crash they begin again, since an older copy would be taken for a huge growth.
 */
export interface Totals {
  /** ms since the epoch: when all of them were zero. */
  readonly since: number
  of(service: number): Count
  add(counts: Iterable<readonly [service: number, count: Count]>): void
  remove(services: readonly number[]): void
  close(): Promise<void>
}

interface Parts {
  file: string
  log: Logger
  clock(): number
}

const total = z.int().check(z.gte(0))
const Kept = z.object({ since: total, totals: z.array(z.tuple([total, total, total, total])) })

const NONE: Count = [0, 0, 0]

export async function takeTotals({ file, log, clock }: Parts): Promise<Totals> {
  const kept = await takeKept(file, log)
  const totals = new Map<number, Count>(kept?.totals.map(([service, ...count]) => [service, count]))
  const since = kept?.since ?? clock()
  return {
    since,
    of: (service) => totals.get(service) ?? NONE,
    add(counts) {
      for (const [service, [connections, received, sent]] of counts)
        addTo(totals, service, [connections, received, sent])
    },
    remove(services) {
      for (const service of services) totals.delete(service)
    },
    async close() {
      const rows = [...totals].map(([service, count]) => [service, ...count])
      await writeAtomic(file, JSON.stringify({ since, totals: rows }), 0o600).catch((err: unknown) =>
        log.warn({ err }, 'the counters of services could not be kept, and begin again'),
      )
    },
  }
}

/** It counts once: a server that starts after a crash must not find it again. */
async function takeKept(file: string, log: Logger): Promise<z.infer<typeof Kept> | undefined> {
  try {
    const text = readFileSync(file, 'utf8')
    await rm(file)
    await syncDirectory(dirname(file))
    return Kept.parse(JSON.parse(text))
  } catch (err) {
    if (codeOf(err) !== 'ENOENT')
      log.warn({ err }, 'the counters of services could not be read, and begin again')
    return undefined
  }
}
