import { setImmediate as pause } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { LiveDatabase } from '../../db/live-schema.ts'
import { DAY, dropHours, HOUR, isLarger, MINUTE, packCounts, sumMinutes } from './steps.ts'

/** How long minutes and hours are kept. */
export const [KEPT_HOURS, KEPT_DAYS] = [24, 30] as const

/** Keeps the figures small: packs new ones, turns minutes into hours, and drops old ones. */
export interface Upkeep {
  /** Does all that is due, in steps between which other work has its turn. */
  run(): Promise<void>
  close(): Promise<void>
}

interface Parts {
  liveDb: Kysely<LiveDatabase>
  log: Logger
  clock(): number
  /** Beyond this size, minutes become hours early. */
  maxBytes?: number
}

/** Packing takes as long for one minute of a service as for ten. */
export const PACK_EVERY = 10
const MAX_BYTES = 400 * 1024 * 1024

export function createUpkeep({ liveDb, log, clock, maxBytes = MAX_BYTES }: Parts): Upkeep {
  let running: Promise<void> | undefined
  let isClosed = false
  /** @param step returns whether there is more to do */
  const repeat = async (step: () => Promise<boolean>) => {
    while (!isClosed && (await step())) await pause()
  }
  const runAll = async () => {
    const now = clock()
    const minute = Math.floor(now / MINUTE / PACK_EVERY) * PACK_EVERY
    const place = { service: Number.MIN_SAFE_INTEGER }
    await repeat(() => packCounts(liveDb, minute, place))
    await repeat(() => sumMinutes(liveDb, Math.floor(now / HOUR) - KEPT_HOURS))
    await repeat(() => dropHours(liveDb, Math.floor(now / DAY) - KEPT_DAYS))
    await repeat(async () => (await isLarger(liveDb, maxBytes)) && (await shrink(Math.floor(now / HOUR))))
  }
  const shrink = async (hour: number) =>
    (await sumMinutes(liveDb, hour)) || (await dropHours(liveDb, Math.floor((hour * HOUR) / DAY)))
  const run = () => {
    running ??= runAll().finally(() => {
      running = undefined
    })
    return running
  }
  const timer = setInterval(() => {
    run().catch((err: unknown) => log.warn({ err }, 'the figures could not be packed'))
  }, MINUTE).unref()
  return {
    run,
    async close() {
      isClosed = true
      clearInterval(timer)
      await running
    },
  }
}
