/** The terminal of a command: data goes to `out`, words about failures to `err`. */
export interface Io {
  out(text: string): void
  err(text: string): void
  /** True when colours may be written to `out`. */
  colour: boolean
  /** Reads standard input to its end. @throws RangeError beyond `maxBytes`. */
  readInput(maxBytes: number): Promise<string>
}

export function createIo(noColour: boolean): Io {
  return {
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
    colour: process.stdout.isTTY === true && !noColour,
    readInput,
  }
}

async function readInput(maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) throw new RangeError('standard input is too long')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const SHADES = { green: 32, red: 31, yellow: 33 } as const

export function paint(io: Io, shade: keyof typeof SHADES, text: string): string {
  return io.colour ? `\u001b[${SHADES[shade]}m${text}\u001b[0m` : text
}

/** A text that came over the network, without anything a terminal would obey. */
export function printable(text: string, maxLength = 300): string {
  return text.replace(/\p{C}/gu, ' ').slice(0, maxLength)
}
