import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import type { KeptRequest } from '@postern/contract/requests/kept'
import { findText, writeAtomic } from '@postern/host/files'
import { createQueue } from '@postern/host/tasks'
import type { Logger } from 'pino'
import { createAnswers } from './answers.ts'
import { createLedger, emptyLedger, type Ledger, LedgerState } from './ledger.ts'
import type { Read } from './reading.ts'

interface CounterOptions {
  file: string
  /** All sources of counts there are now; each reads its own. */
  readAll(): Promise<readonly Read[]>
  send(message: EdgeMessage): boolean
  /** ms since the epoch. */
  now: () => number
  random: () => number
  log: Logger
}

/** Reads the counters each minute, stores the increase on disk, and sends it until the server has it. */
export interface Counter {
  /** Call it before anything else is done to the data plane. */
  start(): Promise<void>
  /** Reads them now. */
  count(): Promise<void>
  /** Reads a source for the last time before it ends; when it returns, the count is on disk. */
  countLast(read: Read): Promise<void>
  /** A request has ended: its answer counts, for the minute of the next reading. */
  note(request: KeptRequest): void
  onStored(ledger: string, seq: number): void
  onReconnect(): void
  close(): Promise<void>
}

const MINUTE = 60_000
/** A reading so soon after the full minute belongs to the previous one. */
const GRACE = 5000
/** Longest wait for the server's answer before a batch is sent again. */
const PATIENCE = 30_000

export function createCounter(options: CounterOptions): Counter {
  const { file, send, now, random, log } = options
  const queue = createQueue()
  let ledger: Ledger = createLedger(emptyLedger(makeName(random)))
  let sent: { seq: number; at: number } | undefined
  const answers = createAnswers()
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
    isSaved = !ledger.take(readings, minute, answers) && isSaved
    // Only what is on disk may be sent, because a later edge begins there.
    if (!isSaved) await writeAtomic(file, JSON.stringify(ledger.state()), 0o600)
    isSaved = true
    speak()
  }
  const attempt = (work: () => Promise<void>) =>
    queue.run(work).catch((err: unknown) => log.warn({ err }, 'the traffic of services could not be counted'))
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
    note: answers.note,
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

/** @returns undefined when there is none, or it cannot be read: counting then starts over */
async function readLedger(file: string, log: Logger): Promise<LedgerState | undefined> {
  try {
    const text = await findText(file)
    return text === undefined ? undefined : LedgerState.parse(JSON.parse(text))
  } catch (err) {
    log.warn({ err }, 'the previous counts cannot be read')
    return undefined
  }
}
