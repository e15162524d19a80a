import type { Exec } from '../exec.ts'

export interface ProberOptions {
  exec: Exec
  interface: string
  /** Called when an address that answered no longer does, or the other way round. */
  onChange: () => void
}

export interface Prober {
  /** The addresses to probe from now on. */
  probe(addresses: readonly string[]): void
  isReachable(address: string): boolean
  /** Why nothing can be probed, in words. */
  problem(): string | null
  close(): void
}

const PERIOD = 1000
/** An answer that comes later than this counts as none, so that a slow line is not a dead one. */
const PATIENCE = 2000
/** `10.64.0.2 : [3], 64 bytes, 0.4 ms (…)` or `10.64.0.2 : [3], timed out (…)`. */
const LINE = /^([0-9a-f.:]+)\s+: \[\d+\], (\d+ bytes|timed out)/

/** One fping for all nodes, which runs as long as its list stays the same. */
export function createProber(options: ProberOptions): Prober {
  let answers = new Map<string, boolean>()
  let list: string[] = []
  let running: { stop(): void } | undefined
  let problem: string | null = null

  const read = (line: string) => {
    const [, address, outcome] = LINE.exec(line) ?? []
    if (address === undefined || outcome === undefined || !answers.has(address)) return
    const isAnswer = outcome !== 'timed out'
    if (answers.get(address) === isAnswer) return
    answers.set(address, isAnswer)
    options.onChange()
  }
  const start = () => {
    const pace = ['-p', String(PERIOD), '-t', String(PATIENCE), '-i', '1']
    const current = options.exec.stream('fping', ['-l', ...pace, '-I', options.interface, ...list], {
      onLine: (line) => current === running && read(line),
      // Whatever ended it, the next list, which comes within seconds, starts it again.
      onExit: (error) => {
        problem = error ? `Nodes cannot be probed: ${error.message}.` : null
        if (current === running) running = undefined
      },
    })
    running = current
  }
  return {
    probe(addresses) {
      const next = [...addresses].sort()
      const isSame = next.join() === list.join()
      if (isSame && (running || next.length === 0)) return
      list = next
      answers = new Map(next.map((address) => [address, answers.get(address) ?? false]))
      running?.stop()
      running = undefined
      if (next.length > 0) start()
    },
    problem: () => problem,
    isReachable: (address) => answers.get(address) ?? false,
    close() {
      const last = running
      running = undefined
      last?.stop()
    },
  }
}
