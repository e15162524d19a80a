import { findText } from '@postern/host/files'
import { COUNTS_TABLE } from '@postern/render/haproxy/counts'
import type { Count, Reading } from '../../../counts/reading.ts'
import { HaproxySocketError } from './socket.ts'

/** What a HAProxy has counted; undefined when none answers. */
export async function readCounts(ask: (command: string) => Promise<string>): Promise<Reading | undefined> {
  try {
    // In one connection: while one takes over from the other, the next may reach another process.
    const answer = await ask(`show info;show table ${COUNTS_TABLE}`)
    const pid = /^Pid: (\d+)$/m.exec(answer)?.[1]
    const source = pid && (await nameProcess(pid))
    return source ? { source, counts: parseCounts(answer) } : undefined
  } catch (error) {
    if (error instanceof HaproxySocketError) return undefined
    throw error
  }
}

/** A row is like `0x7f…: key=42 use=1 exp=0 conn_cnt=1 bytes_in_cnt=1500 bytes_out_cnt=1500`. */
function parseCounts(answer: string): Map<number, Count> {
  const counts = new Map<number, Count>()
  for (const [, key, connections, received, sent] of answer.matchAll(
    / key=(\d+) .*conn_cnt=(\d+) bytes_in_cnt=(\d+) bytes_out_cnt=(\d+)$/gm,
  ))
    counts.set(Number(key), [Number(connections), Number(received), Number(sent)])
  return counts
}

/** Numbers of processes come again, but not at the same tick of the same run of the machine. */
async function nameProcess(pid: string): Promise<string | undefined> {
  const [boot, stat] = await Promise.all([
    findText('/proc/sys/kernel/random/boot_id'),
    findText(`/proc/${pid}/stat`),
  ])
  const start = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return boot && start && `haproxy ${boot.trim()} ${pid} ${start}`
}
