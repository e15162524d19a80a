import { readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ROOT } from '../lib/environment.ts'

export interface PackageSize {
  file: string
  /** In MB, of a million bytes each. */
  size: number
  limit: number
}

/** The built files that have a limit in bench/package-sizes.json. */
export function listSizes(files: readonly string[], version: string): PackageSize[] {
  // Our own file.
  const limits = JSON.parse(readFileSync(join(ROOT, 'bench/package-sizes.json'), 'utf8')) as Record<
    string,
    number
  >
  return files.flatMap((file) => {
    const limit = limits[basename(file).replace(version, 'VERSION')]
    return limit === undefined ? [] : [{ file, size: statSync(file).size / 1e6, limit }]
  })
}
