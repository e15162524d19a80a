import { fileURLToPath } from 'node:url'
import { writeOwnBundle } from '../../scripts/lib/bundle.ts'
import { writeDocs } from './docs/write.ts'

/** Builds the server, the programs for its database that people run, and the documentation that it serves. */

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

await writeOwnBundle(at('src/main.ts'), at('dist/server.mjs'))
for (const tool of ['rotate-key', 'new-password', 'verify-history'])
  await writeOwnBundle(at(`src/${tool}.ts`), at(`dist/${tool}.mjs`))
await writeDocs(at('../..'))
