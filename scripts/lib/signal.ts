/** Resolves at the first Ctrl-C, or when the process is asked to end, or its terminal is closed. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => resolve())
  })
}
