import { findHolder, type ProcessMark } from '@postern/host/lock'

/** The process that holds a lock file. @throws when none does */
export function getHolder(path: string): ProcessMark {
  const holder = findHolder(path)
  if (!holder) throw new Error(`nobody holds ${path}`)
  return holder
}
