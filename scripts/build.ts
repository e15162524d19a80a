import { join } from 'node:path'
import { writeOwnBundle } from './lib/bundle.ts'

/**
 * Builds the long-running programs (server, edge and their starters on a machine and in containers), the step before
 * their units, and the commands of package and edge.
 */
for (const name of ['start', 'container', 'prepare', 'haproxy', 'postern-server', 'postern-edge'])
  await writeOwnBundle(join(import.meta.dirname, `${name}.ts`), join(import.meta.dirname, `dist/${name}.mjs`))
