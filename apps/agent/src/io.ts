import { fstatSync, ftruncateSync } from 'node:fs'
import { readToEnd } from '@postern/host/streams'

/** A command's terminal: data goes to `out`, failures to `err`. */
export interface Io {
  out(text: string): void
  err(text: string): void
  /** True when colours may be written to `out`. */
  colour: boolean
  /** Reads standard input to its end. @throws RangeError beyond `maxBytes`. */
  readInput(maxBytes: number): Promise<string>
  /** Whether the person says yes; undefined where nobody can be asked. */
  ask?: ((question: string) => Promise<boolean>) | undefined
}

export function createIo(noColour: boolean): Io {
  return {
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
    colour: process.stdout.isTTY === true && !noColour,
    readInput: (maxBytes) => readToEnd(process.stdin, maxBytes, 'standard input'),
    ask: process.stdin.isTTY && process.stdout.isTTY ? askPerson : undefined,
  }
}

async function askPerson(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim())
  } finally {
    terminal.close()
  }
}

const SHADES = { green: 32, red: 31, yellow: 33 } as const

export function paint(io: Io, shade: keyof typeof SHADES, text: string): string {
  return io.colour ? `\u001b[${SHADES[shade]}m${text}\u001b[0m` : text
}

/** Text from the network, without terminal control characters. */
export function printable(text: string, maxLength = 300): string {
  return text.replace(/\p{C}/gu, ' ').slice(0, maxLength)
}

export type Log = (text: string) => void

const MAX_LOG = 1024 * 1024

/** Writes one line to the descriptor for each change of state. A file is emptied once it exceeds a megabyte. */
export function createLog(write: (line: string) => void, descriptor: number, now: () => number): Log {
  return (text) => {
    const file = fstatSync(descriptor)
    if (file.isFile() && file.size > MAX_LOG) ftruncateSync(descriptor, 0)
    write(`${new Date(now()).toISOString()} ${printable(text, 1000)}`)
  }
}
