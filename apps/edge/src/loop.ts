import { createBackoff } from '@postern/host/backoff'
import { createMemory, dataPlaneOf, type LoopOptions, type Memory, reportOf } from './loop-memory.ts'
import { applyOnce, checkOnce, fetchOnce, noteRefusal, recall, saveOnce } from './loop-steps.ts'
import { createSingleFlight, type SingleFlight } from './single-flight.ts'

export interface Loop {
  /** Takes up the state of the last run and begins. */
  start(): Promise<void>
  /** The server says that there is a newer revision. */
  hint(revision: number): void
  /** The server hears us again: says everything anew. */
  greet(): void
  /** Something on this machine is not as it was: applies again. */
  alarm(): void
  close(): Promise<void>
}

const DRIFT_EVERY = 5000
const CHECK_EVERY = 500
/** For the first start of all, where the server is just being started too. */
const READY_WITHIN = 8000
const RETRY = { first: 250, most: 5000 }

export function createLoop(options: LoopOptions): Loop {
  const memory = createMemory(options)
  const voice = createVoice(options, memory)
  const applying = createSingleFlight(async () => {
    const { state, fullCheckDue } = memory
    if (!state) return
    await applyOnce(options, memory, state)
    voice.report()
    voice.ready()
    if (memory.outcome?.needsAnotherApply) applying.trigger()
    // What is newer does not wait for the disk; the next look at everything saves in any case.
    if (memory.state === state || fullCheckDue) await saveOnce(options, memory, state)
  })
  const fetching = createFetching(options, memory, voice.report, applying.trigger)
  const timers = new Set<NodeJS.Timeout>()

  return {
    async start() {
      await recall(options, memory)
      applying.trigger()
      fetching.trigger()
      timers.add(setInterval(() => drift(options, memory, applying, fetching), DRIFT_EVERY))
      timers.add(setInterval(createCheck(options, memory, applying, voice.report), CHECK_EVERY))
      timers.add(setTimeout(voice.ready, READY_WITHIN))
    },
    hint(revision) {
      memory.wanted = revision
      fetching.trigger()
    },
    greet() {
      voice.report()
      fetching.trigger()
    },
    alarm: applying.trigger,
    async close() {
      for (const timer of timers) clearInterval(timer)
      fetching.close()
      applying.close()
      await applying.idle()
    },
  }
}

/** Before the first apply there is nothing to say, unless it does not come. */
function createVoice(options: LoopOptions, memory: Memory) {
  const report = () => {
    if (memory.outcome || memory.isReady) options.report(reportOf(memory, options.observerProblems()))
  }
  const ready = () => {
    if (memory.isReady) return
    memory.isReady = true
    options.onReady(dataPlaneOf(memory))
    if (!memory.outcome) report()
  }
  return { report, ready }
}

/** Fetches until it succeeds, with growing waits; traffic does not depend on it. */
function createFetching(options: LoopOptions, memory: Memory, report: () => void, onFetched: () => void) {
  const backoff = createBackoff({ ...RETRY, random: options.random })
  let retry: NodeJS.Timeout | undefined
  const flight = createSingleFlight(async () => {
    clearTimeout(retry)
    try {
      await fetchOnce(options, memory)
      backoff.reset()
      onFetched()
    } catch (err) {
      options.log.debug({ err }, 'the state cannot be fetched')
      if (noteRefusal(options, memory, err)) report()
      retry = setTimeout(flight.trigger, backoff.next())
    }
  })
  const close = () => {
    flight.close()
    clearTimeout(retry)
  }
  return { trigger: flight.trigger, close }
}

/** Looks at everything again: hints get lost, and others change this machine too. */
function drift(
  options: LoopOptions,
  memory: Memory,
  applying: SingleFlight,
  fetching: { trigger(): void },
): void {
  memory.fullCheckDue = true
  options.targets.refreshNames()
  applying.trigger()
  fetching.trigger()
}

function createCheck(
  options: LoopOptions,
  memory: Memory,
  applying: SingleFlight,
  report: () => void,
): () => void {
  let isChecking = false
  return () => {
    if (isChecking || applying.isBusy() || !memory.outcome) return
    isChecking = true
    void checkOnce(options, memory)
      .then((isChanged) => {
        if (!isChanged) return
        report()
        applying.trigger()
      })
      .finally(() => {
        isChecking = false
      })
  }
}
