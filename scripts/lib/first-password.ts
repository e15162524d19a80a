import { closeSync, existsSync, fchownSync, openSync, rmSync, writeSync } from 'node:fs'
import type { InstallationPaths } from '@postern/contract/installation'
import type { Identity } from './users.ts'

/**
 * Lays the admin's password down where only the server reads it, for the start that makes the account. Once there is a
 * database it is the truth, and nothing is written.
 * @param owner absent without root: the file is then this user's
 */
export function layDownPassword(paths: InstallationPaths, password: string | null, owner?: Identity): void {
  if (password === null || existsSync(paths.database)) return
  // One of a start that never came to its end. The new file is nobody's link.
  rmSync(paths.firstPassword, { force: true })
  const file = openSync(paths.firstPassword, 'wx', 0o600)
  try {
    if (owner) fchownSync(file, owner.uid, owner.gid)
    writeSync(file, password)
  } finally {
    closeSync(file)
  }
}
