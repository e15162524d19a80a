import type { Exec } from '@postern/host/processes/exec'

/** Notices changes of links, addresses, routes and firewall rules, from two programs that run as long as the edge. */
export interface KernelWatch {
  /** True when something may have changed since the last call. */
  takeChanges(): boolean
  close(): void
}

export function createKernelWatch(exec: Exec): KernelWatch {
  const monitors = [
    createMonitor(exec, 'ip', ['monitor', 'link', 'address', 'route']),
    createMonitor(exec, 'nft', ['monitor']),
  ]
  return {
    takeChanges: () => monitors.map((monitor) => monitor.takeChanges()).includes(true),
    close() {
      for (const monitor of monitors) monitor.close()
    },
  }
}

/** Every line is a change. A program that ended, or cannot be started, is started again by the next call. */
function createMonitor(exec: Exec, program: string, args: readonly string[]): KernelWatch {
  let running: { stop(): void } | undefined
  let hasChanged = false
  const start = () => {
    const current = exec.stream(program, args, {
      onLine: () => {
        hasChanged = true
      },
      onExit: () => {
        if (running === current) running = undefined
      },
    })
    running = current
  }
  return {
    takeChanges() {
      const isWatched = running !== undefined
      const result = hasChanged || !isWatched
      // It misses changes until it listens, so the next call reports a change too.
      hasChanged = !isWatched
      if (!isWatched) start()
      return result
    },
    close() {
      const last = running
      running = undefined
      last?.stop()
    },
  }
}
