import { fileURLToPath } from 'node:url'
import { writeOwnBundle } from '../../scripts/lib/bundle.ts'
import { writeDocs } from './docs/write.ts'

/** Builds the server, what gives its database another key, and the pages of the documentation that it serves. */

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

await writeOwnBundle(at('src/main.ts'), at('dist/server.mjs'))
await writeOwnBundle(at('src/rotate-key.ts'), at('dist/rotate-key.mjs'))
await writeDocs(at('../..'))
