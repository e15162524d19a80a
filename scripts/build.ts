import { join } from 'node:path'
import { writeOwnBundle } from './lib/bundle.ts'

/** Builds what runs as long as server and edge, on a machine and in containers, the step before their units, and the command of the package. */
for (const name of ['start', 'container', 'prepare', 'haproxy', 'postern-server'])
  await writeOwnBundle(join(import.meta.dirname, `${name}.ts`), join(import.meta.dirname, `dist/${name}.mjs`))
