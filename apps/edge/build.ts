import { fileURLToPath } from 'node:url'
import { writeOwnBundle } from '../../scripts/lib/bundle.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

await writeOwnBundle(at('src/main.ts'), at('dist/edge.mjs'))
await writeOwnBundle(at('src/drivers/haproxy/process/holder.ts'), at('dist/holder.mjs'))
