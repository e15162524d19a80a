import { fstatSync, ftruncateSync } from 'node:fs'
import { printable } from '../io.ts'

export type Log = (text: string) => void

const MAX_LOG = 1024 * 1024

/** Lines on the descriptor, one for each change of state. A file starts anew when it has grown to a megabyte. */
export function createLog(write: (line: string) => void, descriptor: number, now: () => number): Log {
  return (text) => {
    const file = fstatSync(descriptor)
    if (file.isFile() && file.size > MAX_LOG) ftruncateSync(descriptor, 0)
    write(`${new Date(now()).toISOString()} ${printable(text, 1000)}`)
  }
}
