import { chmod } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { writeBundle } from '../../scripts/lib/bundle.ts'

/**
 * Builds the single file that `/install/postern` serves, or another one that is named, which needs only Node 18 or
 * newer; and the one that `npm run package` puts into Node.
 */

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const file = process.argv[2] ?? at('dist/postern.mjs')

// ws looks for optional native modules, which a single file cannot have.
const define = { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' }

// People save the file without an extension, which Node before 20.19 always treats as a script; with .mjs it is a
// module. This wrapper works as both.
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

await writeBundle({
  input: at('src/main.ts'),
  file,
  transform: { target: 'node18', define },
  output: { format: 'cjs', comments: false, ...frame },
})
await chmod(file, 0o755)

if (process.argv[2] === undefined)
  await writeBundle({
    input: at('src/main-with-node.ts'),
    file: at('dist/with-node.cjs'),
    transform: { target: 'node26', define },
    output: { format: 'cjs', comments: false },
  })
