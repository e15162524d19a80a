import { type OutputOptions, type Plugin, type RolldownOptions, rolldown } from 'rolldown'

export interface Bundle {
  /** The program's first file. */
  input: string
  /** The file that it is bundled into. */
  file: string
  /** The target to compile for, and replacements for names. */
  transform: RolldownOptions['transform']
  plugins?: Plugin[]
  output?: OutputOptions
}

/** Bundles a program with all its imports into one file. Names stay as written, so stack traces stay readable. */
export async function writeBundle({ input, file, transform, plugins = [], output }: Bundle): Promise<void> {
  const bundle = await rolldown({ input, platform: 'node', plugins, ...(transform && { transform }) })
  await bundle.write({ file, format: 'esm', codeSplitting: false, ...output })
  await bundle.close()
  console.log(file)
}

/** A bundle for our own Node: server, edge and starter. Only `node --enable-source-maps` reads the map. */
export function writeOwnBundle(input: string, file: string): Promise<void> {
  const output = { sourcemap: true, comments: false, plugins: [IN_ONE_BYTE] }
  return writeBundle({ input, file, transform: { target: 'node26' }, plugins: [HTTP_BY_REQUIRE], output })
}

const HTTP = '\0http'

/**
 * An `import` of Node's HTTP reads all of its names at once, and one of them loads what is behind `fetch`: 6 MB in
 * every process. What is required reads a name when it is used.
 */
const HTTP_BY_REQUIRE: Plugin = {
  name: 'http-by-require',
  resolveId: (id, _from, { kind }) =>
    kind === 'import-statement' && /^(node:)?http$/.test(id) ? HTTP : undefined,
  load: (id) => (id === HTTP ? "module.exports = require('node:http')" : undefined),
}

/** A single character beyond Latin 1 makes V8 use two bytes for every character of the running program. */
const IN_ONE_BYTE: Plugin = {
  name: 'in-one-byte',
  generateBundle(_options, files) {
    for (const file of Object.values(files)) if (file.type === 'chunk') file.code = escapeNonAscii(file.code)
  },
}

function escapeNonAscii(code: string): string {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
