import { chmod } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** Builds the one file that `/install/postern` serves: it needs nothing but Node 18 or newer. */

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// People save the file under a name without ending, which Node before 20.19 takes for a script and never for a
// module; the ending .mjs means the opposite. This frame reads as both.
const frame = {
  banner: [
    '#!/usr/bin/env node',
    "import('node:module').then((builtin) => {",
    "'use strict'",
    'const require = builtin.createRequire(process.execPath)',
    'const exports = {}',
  ].join('\n'),
  footer: '})',
}

const bundle = await rolldown({
  input: at('src/main.ts'),
  platform: 'node',
  transform: {
    target: 'node18',
    // ws looks for optional native parts, which a single file cannot have.
    define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
  },
})
const output = await bundle.write({
  file: at('dist/postern.mjs'),
  format: 'cjs',
  ...frame,
  codeSplitting: false,
})
await bundle.close()
for (const { fileName } of output.output) {
  await chmod(at(`dist/${fileName}`), 0o755)
  console.log(`apps/agent/dist/${fileName}`)
}
