import type { EdgeMessage } from '@postern/contract/edge'
import { findText, writeAtomic } from '@postern/host/files'
import { createQueue } from '@postern/host/tasks'
import type { Logger } from 'pino'
import { createLedger, emptyLedger, type Ledger, LedgerState } from './ledger.ts'
import type { Read } from './reading.ts'

interface CounterOptions {
  file: string
  /** All that counts now; each finds its own or nothing. */
  readAll(): Promise<readonly Read[]>
  send(message: EdgeMessage): boolean
  /** ms since the epoch. */
  now: () => number
  random: () => number
  log: Logger
}

/** Reads the counters each minute, keeps what they added on disk, and tells the server until it has it. */
export interface Counter {
  /** Before anything else is done to the data plane. */
  start(): Promise<void>
  /** Reads them now. */
  count(): Promise<void>
  /** The last look at a source that ends; when it returns, the count is on disk. */
  countLast(read: Read): Promise<void>
  onStored(ledger: string, seq: number): void
  onReconnect(): void
  close(): Promise<void>
}

const MINUTE = 60_000
/** A look so soon after the full minute is about the one before. */
const GRACE = 5000
/** An answer that does not come in this time is not coming. */
const PATIENCE = 30_000

export function createCounter(options: CounterOptions): Counter {
  const { file, send, now, random, log } = options
  const queue = createQueue()
  let ledger: Ledger = createLedger(emptyLedger(makeName(random)))
  let sent: { seq: number; at: number } | undefined
  let timer: NodeJS.Timeout | undefined
  let isOpen = false
  let isSaved = false

  const speak = () => {
    const batch = ledger.next()
    if (!isOpen || !batch || (sent?.seq === batch.seq && now() - sent.at < PATIENCE)) return
    const isSent = send({ type: 'counts', ledger: ledger.name, ...batch })
    sent = isSent ? { seq: batch.seq, at: now() } : undefined
  }
  const take = async (reads: readonly Read[]) => {
    const readings = []
    for (const read of reads) {
      const reading = await read()
      if (reading) readings.push(reading)
    }
    const minute = Math.floor((now() - GRACE) / MINUTE)
    isSaved = !ledger.take(readings, minute) && isSaved
    // Only what is on disk may be told: a later edge begins there.
    if (!isSaved) await writeAtomic(file, JSON.stringify(ledger.state()), 0o600)
    isSaved = true
    speak()
  }
  const attempt = (work: () => Promise<void>) =>
    queue.run(work).catch((err: unknown) => log.warn({ err }, 'what services carry could not be counted'))
  const count = () => attempt(async () => take(await options.readAll()))
  const wait = () => {
    timer = setTimeout(
      () => {
        void count()
        wait()
      },
      MINUTE - (now() % MINUTE),
    )
  }
  const begin = async () => {
    const kept = await readLedger(file, log)
    if (kept) ledger = createLedger(kept)
    else
      ledger.begin(
        (await Promise.all((await options.readAll()).map((read) => read()))).filter(
          (reading) => reading !== undefined,
        ),
      )
    isOpen = true
  }
  return {
    async start() {
      await attempt(begin)
      await count()
      wait()
    },
    count,
    countLast: (read) => attempt(() => take([read])),
    onStored(name, seq) {
      if (name !== ledger.name) return
      ledger.stored(seq, makeName(random))
      sent = undefined
      speak()
    },
    onReconnect() {
      sent = undefined
      speak()
    },
    async close() {
      clearTimeout(timer)
      await count()
      isOpen = false
    },
  }
}

function makeName(random: () => number): string {
  return Math.floor(random() * 2 ** 48).toString(36)
}

/** @returns undefined where there is none, or one that cannot be read: counting begins anew. */
async function readLedger(file: string, log: Logger): Promise<LedgerState | undefined> {
  try {
    const text = await findText(file)
    return text === undefined ? undefined : LedgerState.parse(JSON.parse(text))
  } catch (err) {
    log.warn({ err }, 'what was counted before cannot be read')
    return undefined
  }
}
