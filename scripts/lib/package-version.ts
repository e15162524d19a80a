import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './environment.ts'

/** The version of this repository, or of the package. */
export function readPackageVersion(): string {
  // Our own file.
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version
}
