import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBackoff } from '@postern/host/backoff'
import { messageOf } from '@postern/host/errors'
import { isBeat, MOST_MISSED } from '@postern/host/processes/beats'
import { type ChildProcess, type LaunchOptions, launch } from '@postern/host/processes/exec'

/** How long a program may take to say that it is ready, and to end when it is asked to, in ms. */
const READY_LIMIT = 30_000
const STOP_LIMIT = 8_000
const FIRST_DELAY = 100
const MAX_DELAY = 30_000
/** After a run of this length the restart delay begins again from the first one. */
const STEADY = 60_000

export interface ProgramOptions extends LaunchOptions {
  name: string
  argv: readonly string[]
  onLine: (line: string) => void
  onRestart: (name: string, how: string, delay: number) => void
  /** Called before a restart, since somebody may have removed what the program needs. */
  prepare?: (() => Promise<void>) | undefined
}

/** One of our programs: restarted when it ends unasked, and ended when it hangs. */
export class Program {
  /** The program's message that it is ready. Rejects when its first run ends before that. */
  readonly ready: Promise<unknown>
  readonly #options: ProgramOptions
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #child: ChildProcess | undefined

  constructor(options: ProgramOptions) {
    this.#options = options
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const limit = setTimeout(
      () => reject(new Error(`the ${options.name} was not ready in time`)),
      READY_LIMIT,
    )
    this.ready = promise
    this.#ended = this.#supervise(resolve, reject).finally(() => clearTimeout(limit))
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await end(this.#child)
    await this.#ended
  }

  /** Does not restart a program that was never ready: a person must fix what keeps it from starting. */
  async #supervise(onReady: (message: unknown) => void, onFailure: (error: Error) => void): Promise<void> {
    const backoff = createBackoff({ first: FIRST_DELAY, most: MAX_DELAY, random: () => 0 })
    let wasReady = false
    while (!this.#stop.signal.aborted) {
      const born = performance.now()
      const how = await this.#runOnce((message) => {
        wasReady = true
        onReady(message)
      })
      if (this.#stop.signal.aborted) return
      if (!wasReady) return onFailure(new Error(`the ${this.#options.name} did not start (${how})`))
      if (performance.now() - born > STEADY) backoff.reset()
      const delay = backoff.next()
      this.#options.onRestart(this.#options.name, how, delay)
      // Rejects when aborted, and then the loop ends.
      await sleep(delay, undefined, { signal: this.#stop.signal }).catch(() => undefined)
      await this.#options.prepare?.().catch((error) => this.#options.onLine(messageOf(error)))
    }
  }

  /** One run. @returns how it ended */
  #runOnce(onReady: (message: unknown) => void): Promise<string> {
    const child = launch(this.#options.argv, this.#options)
    this.#child = child
    if (child.stderr) createInterface({ input: child.stderr }).on('line', this.#options.onLine)
    child.on('message', (message) => isReady(message) && onReady(message))
    const watch = endHanging(child)
    return new Promise<string>((done) => {
      child.once('error', (error) => done(error.message))
      child.once('exit', (code, signal) => done(watch.close() ?? endOf(code, signal)))
    })
  }
}

/**
 * Ends a program whose heartbeats have stopped. It counts checks instead of time: a starter that was itself stopped
 * reads the pending heartbeats before its next check.
 * @returns `close`, which says what was wrong if the program was ended for it
 */
function endHanging(child: ChildProcess): { close(): string | undefined } {
  let missed = 0
  let look: NodeJS.Timeout | undefined
  const isHanging = () => missed > MOST_MISSED
  child.on('message', (message) => {
    if (!isBeat(message)) return
    missed = 0
    look ??= setInterval(() => {
      missed++
      if (isHanging()) child.kill('SIGKILL')
    }, 1000)
  })
  return {
    close() {
      clearInterval(look)
      return isHanging() ? `hung for ${MOST_MISSED} seconds` : undefined
    },
  }
}

/** Only the kernel, reclaiming memory, kills a program that was not first asked to end. */
function endOf(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === 'SIGKILL') return 'SIGKILL, most likely because memory ran out'
  return signal ?? `exit code ${code}`
}

function isReady(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready'
}

async function end(child?: ChildProcess): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT)
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(force)
}
