import { readdir, readFile } from 'node:fs/promises'

/** Whether processes that do not answer still work. */
export interface Life {
  /** Whether one of their threads has run since the last check; the first check says yes. */
  hasMoved(pids: readonly number[]): Promise<boolean>
}

/**
 * Counts how often the kernel has switched to and from their threads. HAProxy checks the server each second, so a
 * working one moves even without visitors; one that is stopped or waits for a lock does not, and one in an endless
 * loop ends itself.
 */
export function createLife(): Life {
  let last = ''
  return {
    async hasMoved(pids) {
      const now = (await Promise.all(pids.map(switchesOf))).join(' ')
      const isOther = now !== last
      last = now
      return isOther
    },
  }
}

async function switchesOf(pid: number): Promise<number> {
  const tasks = `/proc/${pid}/task`
  try {
    const all = await Promise.all(
      (await readdir(tasks)).map((task) => readFile(`${tasks}/${task}/status`, 'utf8')),
    )
    return all
      .flatMap((text) => [...text.matchAll(/ctxt_switches:\t(\d+)$/gm)])
      .reduce((sum, [, n]) => sum + Number(n), 0)
  } catch {
    // It ended during the check.
    return 0
  }
}
