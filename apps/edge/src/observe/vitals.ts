import type { EdgeMessage, EdgeVitals, HaproxyVitals } from '@postern/contract/edge/edge-messages'
import { readOwnVitals, watchEventLoop } from '@postern/host/processes/vitals'
import { createSingleFlight } from '@postern/host/tasks'
import type { Logger } from 'pino'

interface VitalsReporterOptions {
  haproxy: { findVitals(): Promise<HaproxyVitals | undefined> }
  /** Reads what the machine reports: disk space and waiting updates. */
  look: () => Promise<Pick<EdgeVitals, 'disk' | 'updates'>>
  /** @returns false when there is no connection */
  send(message: EdgeMessage): boolean
  log: Logger
}

/** Tells the server how the edge and its HAProxy are. */
export interface VitalsReporter {
  start(): void
  /** Tells it now. */
  report(): void
  close(): Promise<void>
}

const TELL_EVERY = 10_000

export function createVitalsReporter({ haproxy, look, send, log }: VitalsReporterOptions): VitalsReporter {
  const loop = watchEventLoop()
  let timer: NodeJS.Timeout | undefined
  const telling = createSingleFlight(() =>
    tell().catch((err: unknown) => log.warn({ err }, 'how the edge is could not be looked at')),
  )
  async function tell(): Promise<void> {
    const [process, proxy] = [await readOwnVitals(), await haproxy.findVitals()]
    const vitals = { process, eventLoop: loop.read(), haproxy: proxy ?? null, ...(await look()) }
    send({ type: 'vitals', vitals })
  }
  return {
    start() {
      timer = setInterval(telling.trigger, TELL_EVERY)
    },
    report: telling.trigger,
    async close() {
      clearInterval(timer)
      telling.close()
      await telling.idle()
      loop.close()
    },
  }
}
