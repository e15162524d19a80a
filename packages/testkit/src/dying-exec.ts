import type { Exec } from '@postern/host/exec'

/** Stands in for a process that is killed right before its n-th call of another program. */
export function dyingExec(exec: Exec, dieAt: number): Exec & { calls(): number } {
  let calls = 0
  const count = () => {
    if (++calls >= dieAt) throw new Error(`killed before call ${dieAt}`)
  }
  return {
    calls: () => calls,
    run: async (...args) => {
      count()
      return exec.run(...args)
    },
    startDetached: async (...args) => {
      count()
      return exec.startDetached(...args)
    },
    stream: (...args) => {
      count()
      return exec.stream(...args)
    },
    readFile: exec.readFile,
  }
}
