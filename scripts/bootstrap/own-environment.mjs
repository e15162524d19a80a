import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

/** Fields 50 and 51 of /proc/PID/stat: where the environment that a process started with begins and ends. */
const ENV_START = 50
const ENV_END = 51

/**
 * Removes a variable from this process and returns its value. Deleting it alone would leave it in /proc/PID/environ
 * for as long as the process lives, so it is overwritten there.
 */
export function takeFromEnvironment(name) {
  const value = process.env[name]
  delete process.env[name]
  if (value !== undefined) overwrite(name)
  return value
}

function overwrite(name) {
  let memory
  try {
    memory = openSync('/proc/self/mem', 'r+')
    const [start, end] = environmentRange()
    // With the zero byte before it, so that every entry begins with one and ends at one.
    const bytes = Buffer.alloc(end - start + 1)
    readSync(memory, bytes, 0, bytes.length, start - 1)
    const from = bytes.indexOf(`\0${name}=`) + 1
    const length = bytes.indexOf(0, from) - from
    if (from > 0 && length > 0) writeSync(memory, Buffer.alloc(length), 0, length, start - 1 + from)
  } catch {
    // Without a writable /proc the value stays visible to this process's own user.
  } finally {
    if (memory !== undefined) closeSync(memory)
  }
}

/** The program's name in brackets is field 2, and may hold blanks and brackets. */
function environmentRange() {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [Number(fields[ENV_START - 3]), Number(fields[ENV_END - 3])]
}
