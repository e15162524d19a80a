import type { Exec } from '@postern/host/processes/exec'

export interface ProberOptions {
  exec: Exec
  interface: string
  /** Called when `isReachable` or `isSilent` has changed for an address. */
  onChange: () => void
}

export interface Prober {
  /** The addresses to probe from now on. */
  probe(addresses: readonly string[]): void
  /** It has answered in the last ten seconds: on a lossy line a single probe shows nothing. */
  isReachable(address: string): boolean
  /** It has answered before, but no probe for ten seconds; never true for one that answers no probes at all. */
  isSilent(address: string): boolean
  /** Starts again with the same list: fping 5.1 waits until a clock that was put back has caught up. */
  restart(): void
  /** Why nothing can be probed, in words. */
  problem(): string | null
  /** Stops probing for good: later calls do nothing. */
  close(): void
}

const PERIOD = 1000
/** How long to wait for an answer, so that a slow line does not count as a dead one. */
const PATIENCE = 2000
/** A probe counts as missed when its time is over; this many are ten seconds without an answer. */
const MISSED = 8
/**
 * Without a source address, fping 5.1 does not recognise its answers where it may not open raw sockets, as in a
 * container.
 */
const ANY_SOURCE = ['-S', '0.0.0.0']
/** `10.64.0.2 : [3], 64 bytes, 0.4 ms (…)` or `10.64.0.2 : [3], timed out (…)`. */
const LINE = /^([0-9a-f.:]+)\s+: \[\d+\], (\d+ bytes|timed out)/

/** Probes without an answer since the last answer; null before the first one. */
type Missed = number | null

/** One fping for all nodes, which runs as long as its list stays the same. */
export function createProber(options: ProberOptions): Prober {
  let answers = new Map<string, Missed>()
  let list: string[] = []
  let running: { stop(): void } | undefined
  let problem: string | null = null
  let isClosed = false

  const read = (line: string) => {
    const [, address, outcome] = LINE.exec(line) ?? []
    const before = address === undefined ? undefined : answers.get(address)
    if (address === undefined || outcome === undefined || before === undefined) return
    const after = afterProbe(before, outcome !== 'timed out')
    answers.set(address, after)
    if (isReachable(before) !== isReachable(after) || isSilent(before) !== isSilent(after)) options.onChange()
  }
  const start = () => {
    if (isClosed || list.length === 0) return
    const pace = ['-p', String(PERIOD), '-t', String(PATIENCE), '-i', '1']
    const current = options.exec.stream(
      'fping',
      ['-l', ...pace, ...ANY_SOURCE, '-I', options.interface, ...list],
      {
        onLine: (line) => current === running && read(line),
        // Whatever ended it, the next list starts it again within seconds.
        onExit: (error) => {
          problem = error ? `Nodes cannot be probed: ${error.message}.` : null
          if (current === running) running = undefined
        },
      },
    )
    running = current
  }
  return {
    probe(addresses) {
      const next = [...addresses].sort()
      const isSame = next.join() === list.join()
      if (isSame && (running || next.length === 0)) return
      list = next
      answers = new Map(next.map((address) => [address, answers.get(address) ?? null]))
      running?.stop()
      running = undefined
      start()
    },
    restart() {
      running?.stop()
      running = undefined
      start()
    },
    problem: () => problem,
    isReachable: (address) => isReachable(answers.get(address) ?? null),
    isSilent: (address) => isSilent(answers.get(address) ?? null),
    close() {
      isClosed = true
      const last = running
      running = undefined
      last?.stop()
    },
  }
}

function afterProbe(missed: Missed, isAnswer: boolean): Missed {
  if (isAnswer) return 0
  return missed === null ? null : missed + 1
}

function isReachable(missed: Missed): boolean {
  return missed !== null && missed < MISSED
}

function isSilent(missed: Missed): boolean {
  return missed !== null && missed >= MISSED
}
