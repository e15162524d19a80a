import type { Exec } from '@postern/host/processes/exec'

/** Imitates a process that is killed right before it runs its n-th program. */
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
