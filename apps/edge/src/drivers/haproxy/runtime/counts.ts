import { findText } from '@postern/host/files'
import { COUNTS_TABLE } from '@postern/render/haproxy/counts'
import type { Count, Reading } from '../../../counts/reading.ts'
import { HaproxySocketError } from './socket.ts'

/** The counters of a HAProxy; undefined when none answers. */
export async function readCounts(ask: (command: string) => Promise<string>): Promise<Reading | undefined> {
  try {
    // In one connection: during a take-over, a second one could reach another process.
    const answer = await ask(`show info;show table ${COUNTS_TABLE}`)
    const pid = /^Pid: (\d{1,10})$/m.exec(answer)?.[1]
    const source = pid && (await nameProcess(pid))
    return source ? { source, counts: parseCounts(answer) } : undefined
  } catch (error) {
    if (error instanceof HaproxySocketError) return undefined
    throw error
  }
}

const ROW = / key=(\d+) .*conn_cnt=(\d+) bytes_in_cnt=(\d+) bytes_out_cnt=(\d+)$/
/** The lines of a HAProxy that was taken over may have any length. */
const LONGEST_ROW = 400

/** A row is like `0x7f…: key=42 use=1 exp=0 conn_cnt=1 bytes_in_cnt=1500 bytes_out_cnt=1500`. */
function parseCounts(answer: string): Map<number, Count> {
  const counts = new Map<number, Count>()
  for (const line of answer.split('\n')) {
    const row = line.length < LONGEST_ROW ? ROW.exec(line) : null
    if (!row) continue
    const [key = 0, connections = 0, received = 0, sent = 0] = row.slice(1).map(Number)
    // A HAProxy that was taken over may say anything, and the server takes no message that is not as agreed.
    if (key > 0 && [key, connections, received, sent].every(Number.isSafeInteger))
      counts.set(key, [connections, received, sent])
  }
  return counts
}

/** Pids are used again, but not at the same tick after the same boot. */
async function nameProcess(pid: string): Promise<string | undefined> {
  const [boot, stat] = await Promise.all([
    findText('/proc/sys/kernel/random/boot_id'),
    findText(`/proc/${pid}/stat`),
  ])
  const start = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  return boot && start && `haproxy ${boot.trim()} ${pid} ${start}`
}
