import { readFileSync } from 'node:fs'

/** A file of /proc about a process; '' when it has ended, even during the read. */
export function readProcessFile(
  pid: number | string,
  name: 'cmdline' | 'comm' | 'environ' | 'status',
): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}

/** A process that has ended may stay in the table as a zombie. */
export function isProcessAlive(pid: number): boolean {
  const status = readProcessFile(pid, 'status')
  return status !== '' && !/^State:\tZ/m.test(status)
}
