import type { EdgeMessage } from '@postern/contract/edge/edge-messages'
import { LIMITS } from '@postern/contract/limits'

/** The edge's own log, for who watches the installation from elsewhere: the server passes it on. */
export interface Journal {
  /** A line of JSON as pino writes it. */
  write(line: string): void
  /** @param send says whether there was a connection */
  start(send: (message: EdgeMessage) => boolean): void
  close(): void
}

const TELL_EVERY = 1000
/** What of a burst, or of a time without a server, is told later; older lines go. */
const MOST_LINES = 500
/** What is only for who looks for an error is not told: it would fill the connection. */
const LEAST_LEVEL = 30

export function createJournal(): Journal {
  let waiting: string[] = []
  let timer: NodeJS.Timeout | undefined
  return {
    write(line) {
      const level = Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 0)
      if (level < LEAST_LEVEL || line.length > LIMITS.journalLineLength) return
      waiting.push(line)
      if (waiting.length > MOST_LINES) waiting.shift()
    },
    start(send) {
      timer = setInterval(() => {
        const lines = waiting.slice(0, LIMITS.journalLines)
        if (lines.length > 0 && send({ type: 'journal', lines })) waiting = waiting.slice(lines.length)
      }, TELL_EVERY)
    },
    close: () => clearInterval(timer),
  }
}
