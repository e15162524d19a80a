import { readdir, readFile } from 'node:fs/promises'

/** Whether processes that do not answer still do something. */
export interface Life {
  /** Whether a thread of theirs had the processor since the last look; the first look says yes. */
  hasMoved(pids: readonly number[]): Promise<boolean>
}

/**
 * By how often the kernel has switched to and from their threads. HAProxy looks at the server each second, so one that
 * works moves, also where no visitor comes; one that was stopped or waits for a lock does not, and one that runs in
 * circles ends itself.
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
    // It ended while it was looked at.
    return 0
  }
}
