import { join } from 'node:path'
import { writeOwnBundle } from './lib/bundle.ts'

/** Builds the starter, which runs as long as server and edge, and the step before their units. */
for (const name of ['start', 'prepare'])
  await writeOwnBundle(join(import.meta.dirname, `${name}.ts`), join(import.meta.dirname, `dist/${name}.mjs`))
