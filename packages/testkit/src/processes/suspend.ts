import { readdir, readFile } from 'node:fs/promises'
import { until } from '../until.ts'

/**
 * Stops a process with SIGSTOP, and waits until it has stopped: the kernel gives the signal to one thread, and on a
 * busy machine the others go on until that one runs.
 */
export async function suspend(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await until('every thread to stop', async () => {
    // One that was replaced meanwhile has none.
    const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
    const states = await Promise.all(
      tasks.map((task) => readFile(`/proc/${pid}/task/${task}/status`, 'utf8')),
    )
    return states.every((status) => /^State:\t[TZ]/m.test(status))
  })
}
