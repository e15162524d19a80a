import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../lib/environment.ts'
import type { Stage } from './deb.ts'

/** Fills the agent's package: one file, which the host's Node runs. */
export function fillAgentPackage(stage: Stage): void {
  const bundle = readFileSync(join(ROOT, 'apps/agent/dist/postern.mjs'), 'utf8')
  // The Node that the package depends on, whatever else is on the path.
  stage.put('usr/bin/postern', bundle.replace(/^#!.*\n/, '#!/usr/bin/node\n'), 0o755)
}
