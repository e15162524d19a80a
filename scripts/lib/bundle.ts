import { type OutputOptions, type Plugin, type RolldownOptions, rolldown } from 'rolldown'

export interface Bundle {
  /** The program's first file. */
  input: string
  /** The one file that it becomes. */
  file: string
  /** For what it is compiled, and what is put in place of names. */
  transform: RolldownOptions['transform']
  output?: OutputOptions
}

/**
 * Packs a program and all that it imports into one file. Names stay as they are written, so that a stack trace says
 * where it was.
 */
export async function writeBundle({ input, file, transform, output }: Bundle): Promise<void> {
  const bundle = await rolldown({ input, platform: 'node', ...(transform && { transform }) })
  await bundle.write({ file, format: 'esm', codeSplitting: false, ...output })
  await bundle.close()
  console.log(file)
}

/** What our own Node runs: server, edge and starter. The map is read by `node --enable-source-maps` only. */
export function writeOwnBundle(input: string, file: string): Promise<void> {
  const output = { sourcemap: true, comments: false, plugins: [IN_ONE_BYTE] }
  return writeBundle({ input, file, transform: { target: 'node26' }, output })
}

/** One character beyond Latin 1 makes V8 keep two bytes for each one of the program, for as long as it runs. */
const IN_ONE_BYTE: Plugin = {
  name: 'in-one-byte',
  generateBundle(_options, files) {
    for (const file of Object.values(files)) if (file.type === 'chunk') file.code = escapeNonAscii(file.code)
  },
}

function escapeNonAscii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
