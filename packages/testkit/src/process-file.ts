import { readFileSync } from 'node:fs'

/** What the kernel says of a process, as a file of /proc has it; '' when it has ended, also while it is read. */
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

/** A process that has ended may stay in the table until somebody asks for its exit code. */
export function isProcessAlive(pid: number): boolean {
  const status = readProcessFile(pid, 'status')
  return status !== '' && !/^State:\tZ/m.test(status)
}
