import { hostname } from 'node:os'
import type { Problem } from '@postern/contract/edge/edge'
import { LIMITS } from '@postern/contract/limits'
import type { KeptRequest } from '@postern/contract/requests/kept'
import { messageOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/processes/exec'
import { createSingleFlight } from '@postern/host/tasks'
import { isPortRoute, type RouteSections } from '@postern/render/resolved-route'
import { renderAccessLine } from './caddy.ts'
import { openDestination } from './destination.ts'

interface AccessLogOptions {
  /** As the setting has it; null: there is none. */
  destination: string | null
  /** The host of the installation itself. */
  host: string | null
  exec: Exec
  now: () => number
  onProblem(): void
}

/** Hands each request on to a log of others. One that hangs or is away costs lines, which are counted, and nothing else. */
export interface AccessLog {
  write(request: KeptRequest): void
  setRoutes(routes: RouteSections): void
  problems(): Problem[]
  close(): Promise<void>
}

const MOST_WAITING = 20_000
const BATCH = 2000
const SEND_EVERY = 500
const PATIENCE = 10_000
/** After a failure. */
const PAUSE = 5000
/** What was dropped is said for so long after the last of it. */
const TOLD_FOR = 10 * 60_000

export function createAccessLog(options: AccessLogOptions): AccessLog | undefined {
  const { destination: text, host, exec, now, onProblem } = options
  if (text === null) return undefined
  const destination = openDestination(text, { exec, now, header: headerFor(host ?? hostname()) })
  const closing = new AbortController()
  let hosts = new Map<number, string>()
  const waiting: string[] = []
  /** What has not come to an end, also when nobody waits for it any more: two that hang would take twice the room. */
  let underway: Promise<void> | undefined
  let pausedUntil = 0
  let failure: string | undefined
  let [dropped, since, last] = [0, 0, 0]

  const drop = (count: number) => {
    last = now()
    dropped += count
    if (dropped > count) return
    since = last
    onProblem()
  }
  function begin(lines: readonly string[], signal: AbortSignal): Promise<void> {
    if (underway) return Promise.reject(new Error('it does not answer'))
    underway = destination.send(lines, signal).finally(() => {
      underway = undefined
    })
    return underway
  }
  async function sendBatch(): Promise<void> {
    const lines = waiting.splice(0, BATCH)
    const before = failure
    try {
      // Not all that can hang can be ended.
      await within(PATIENCE, (signal) => begin(lines, AbortSignal.any([signal, closing.signal])))
      failure = undefined
    } catch (error) {
      failure = messageOf(error)
      pausedUntil = now() + PAUSE
      drop(lines.length)
    }
    if ((before === undefined) !== (failure === undefined)) onProblem()
  }
  async function sendAll(): Promise<void> {
    while (waiting.length > 0 && now() >= pausedUntil && !closing.signal.aborted) await sendBatch()
  }
  const sending = createSingleFlight(sendAll)
  const look = () => {
    if (failure === undefined && dropped > 0 && now() - last > TOLD_FOR) {
      dropped = 0
      onProblem()
    }
    sending.trigger()
  }
  const timer = setInterval(look, SEND_EVERY)
  return {
    write(request) {
      if (waiting.length >= MOST_WAITING) return drop(1)
      waiting.push(renderAccessLine(request, hosts.get(request.service) ?? host))
      if (waiting.length >= BATCH) look()
    },
    setRoutes(routes) {
      hosts = new Map(
        [...routes.values()]
          .flat()
          .flatMap((route) =>
            isPortRoute(route) || route.domain === null ? [] : [[route.id, route.domain] as const],
          ),
      )
    },
    problems() {
      if (failure === undefined && dropped === 0) return []
      const count = `${dropped.toLocaleString('en-US')} ${dropped === 1 ? 'line was' : 'lines were'}`
      const from = `${new Date(since).toISOString().slice(0, 16)}Z`
      const message =
        failure === undefined
          ? `The request log ${text} was too slow: ${count} dropped since ${from}`
          : `The request log ${text} takes nothing: ${failure.slice(0, 200)}. ${count} dropped since ${from}`
      return [{ scope: { kind: 'edge' }, message: message.slice(0, LIMITS.problemLength) }]
    },
    async close() {
      clearInterval(timer)
      sending.close()
      if (failure === undefined) await within(1000, () => sendAll()).catch(() => undefined)
      closing.abort()
      destination.close()
    },
  }
}

/** Facility local0, severity info, as RFC 5424 has it. */
function headerFor(host: string): (at: number) => string {
  const name = host.replace(/[^\x21-\x7e]/g, '').slice(0, 255) || '-'
  return (at) => `<134>1 ${new Date(at).toISOString()} ${name} postern - access - `
}

async function within(ms: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort()
      reject(new Error(`it did not take them within ${ms / 1000} seconds`))
    }, ms)
  })
  try {
    await Promise.race([work(controller.signal), end])
  } finally {
    clearTimeout(timer)
  }
}
