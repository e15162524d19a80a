import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { codeOf } from './errors.ts'
import { isRunning } from './processes/processes.ts'

/** A process, told apart from a later one with the same pid by the time it started. */
export interface ProcessMark {
  pid: number
  /** Clock ticks since boot (field 22 of /proc/PID/stat); empty where there is no /proc. */
  started: string
}

export function parseMark(text: string): ProcessMark | undefined {
  const [pid, started = ''] = text.trim().split(' ')
  return pid && /^[1-9]\d*$/.test(pid) ? { pid: Number(pid), started } : undefined
}

/**
 * Field 22, counted after the program's name, which may hold blanks and brackets. Empty for a process that has
 * ended and was not reaped, as in containers without an init.
 */
export function parseStartTime(stat: string): string {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? '' : (fields[19] ?? '')
}

function startTimeOf(pid: number): string {
  try {
    return parseStartTime(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    // No such process, or no /proc: signal 0 then shows whether it is there.
    return ''
  }
}

export function isAlive({ pid, started }: ProcessMark): boolean {
  return isRunning(pid) && started === startTimeOf(pid)
}

/** The process whose mark is in the file, if it still runs. */
export function findHolder(path: string): ProcessMark | undefined {
  try {
    const mark = parseMark(readFileSync(path, 'utf8'))
    return mark && isAlive(mark) ? mark : undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Takes the lock file for this process. @returns the running holder when another process has it, else undefined.
 * A mark of a process that is gone is replaced.
 */
export function takeLock(path: string): ProcessMark | undefined {
  const mark = `${process.pid} ${startTimeOf(process.pid)}\n`
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      writeFileSync(path, mark, { flag: 'wx', mode: 0o644 })
      return undefined
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const holder = findHolder(path)
    if (holder) return holder
    rmSync(path, { force: true })
  }
  throw new Error(`${path} keeps coming back`)
}

export function releaseLock(path: string): void {
  rmSync(path, { force: true })
}
