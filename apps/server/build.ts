import { fileURLToPath } from 'node:url'
import { writeOwnBundle } from '../../scripts/lib/bundle.ts'
import { writeDocs } from './docs/write.ts'

/** Builds the server, what gives its database another key or password, and the pages of the documentation that it serves. */

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

await writeOwnBundle(at('src/main.ts'), at('dist/server.mjs'))
for (const tool of ['rotate-key', 'new-password'])
  await writeOwnBundle(at(`src/${tool}.ts`), at(`dist/${tool}.mjs`))
await writeDocs(at('../..'))
