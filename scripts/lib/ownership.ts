import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { basename } from 'node:path'
import { CommandError } from './errors.ts'
import type { Identity } from './users.ts'

/**
 * Gives a directory to a user; one that came from a backup, or from a start without root, with all that is in it.
 * In a directory that is the user's own already, nothing is touched: the user may have put there what leads to
 * files of root.
 * @throws CommandError for a file that also has a name elsewhere
 */
export function giveDirectory(path: string, owner: Identity): void {
  const { uid, gid } = statSync(path)
  if (uid === owner.uid && gid === owner.gid) return
  if (uid !== owner.uid) {
    // From here on nobody else comes in.
    chownSync(path, 0, 0)
    chmodSync(path, 0o700)
    giveContents(path, owner)
  }
  chownSync(path, owner.uid, owner.gid)
}

/** Each step starts from an open directory, so that one which is swapped for a link meanwhile leads nowhere. */
function giveContents(path: string, owner: Identity, flags = 0): void {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | flags)
  try {
    const here = `/proc/self/fd/${directory}`
    for (const entry of readdirSync(here, { withFileTypes: true })) {
      const inside = `${here}/${entry.name}`
      if (entry.isDirectory()) giveContents(inside, owner, constants.O_NOFOLLOW)
      else if (lstatSync(inside).nlink > 1)
        throw new CommandError(`${basename(inside)} has another name outside of ${path}: copy it instead`)
      lchownSync(inside, owner.uid, owner.gid)
    }
  } finally {
    closeSync(directory)
  }
}
