import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { CommandError, messageOf } from './command.ts'
import type { Identities, Identity } from './users.ts'

const ROOT: Identity = { uid: 0, gid: 0 }

/**
 * Makes the data directory as installation.ts describes it; what is right already stays untouched.
 * @param identities absent without root: everything then belongs to the one who starts
 */
export function prepareDataDir(dataDir: string, identities?: Identities): void {
  const paths = installationPaths(dataDir)
  makeOuter(dataDir)
  makeDirectory(paths.serverDir, 0o700, identities?.server)
  // Set-group-id, so that the server's socket gets the group of HAProxy, of which the server is no member.
  const runOwner = identities && { uid: identities.server.uid, gid: identities.proxy.gid }
  makeDirectory(paths.runDir, runOwner ? 0o2750 : 0o750, runOwner)
  makeDirectory(paths.edgeDir, 0o700, identities && ROOT)
  if (identities) {
    // The edge looks after what is in it; shut in by its unit, it could not make the directory itself.
    makeDirectory(paths.lanesDir, 0o710, { uid: 0, gid: identities.proxy.gid })
    makeDirectory(paths.programDir, 0o755, ROOT)
  }
  makeEdgeToken(paths.edgeToken, identities && { uid: 0, gid: identities.server.gid })
}

function makeOuter(dataDir: string): void {
  assertNobodySwaps(dataDir)
  if (!existsSync(dataDir)) {
    tryTo(`create ${dataDir}`, () => makeWithParents(dataDir))
    return
  }
  const { uid, gid, mode } = statSync(dataDir)
  const isMine = uid === (process.getuid?.() ?? uid)
  // Many users have a group of their own, which may write to all that they make.
  const isOthersToo = mode & 0o002 || (mode & 0o020 && gid !== (process.getgid?.() ?? gid))
  if (!isMine || isOthersToo)
    throw new CommandError(
      `${dataDir} must belong to the user who starts Postern, and nobody else may write to it: set POSTERN_DATA_DIR to another directory`,
    )
}

/** Whoever may rename a directory above has root write into, and HAProxy start from, one of their own. */
function assertNobodySwaps(dataDir: string): void {
  if (process.getuid?.() !== 0) return
  const above = listAbove(dataDir).filter((path) => existsSync(path))
  const real = realpathSync(existsSync(dataDir) ? dataDir : (above[0] ?? '/'))
  for (const path of new Set([...above, real, ...listAbove(real)])) {
    if (path === dataDir) continue
    const { uid, gid, mode } = statSync(path)
    // In a sticky directory like /tmp nobody renames what is another's.
    const isOthersToo = (mode & 0o002 || (mode & 0o020 && gid !== 0)) && !(mode & 0o1000)
    if (uid !== 0 || isOthersToo)
      throw new CommandError(
        `${path} belongs to somebody else, or others may write to it, who could put another directory in the place of ${dataDir}: set POSTERN_DATA_DIR to another directory`,
      )
  }
}

/** The directories that a path lies in, the nearest first. */
function listAbove(path: string): string[] {
  return path === '/' ? [] : [dirname(path), ...listAbove(dirname(path))]
}

/** Not `recursive: true`: that never ends below /proc and its like, where a directory cannot be made. */
function makeWithParents(path: string): void {
  if (existsSync(path)) return
  makeWithParents(dirname(path))
  mkdirSync(path, { mode: 0o755 })
}

function makeDirectory(path: string, mode: number, owner?: Identity): void {
  tryTo(`create ${path}`, () => {
    makeWithParents(path)
    if (owner) giveDirectory(path, owner)
    if ((statSync(path).mode & 0o7777) !== mode) chmodSync(path, mode)
  })
}

/** What the edge shows to the server; made once, read by root and by the server only. */
function makeEdgeToken(path: string, owner?: Identity): void {
  tryTo(`write ${path}`, () => {
    if (!existsSync(path)) {
      const fresh = `${path}.tmp`
      writeFileSync(fresh, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
      renameSync(fresh, path)
    }
    if (owner) chownSync(path, owner.uid, owner.gid)
    chmodSync(path, owner ? 0o640 : 0o600)
  })
}

function tryTo(what: string, action: () => void): void {
  try {
    action()
  } catch (error) {
    throw new CommandError(`cannot ${what}: ${messageOf(error)}`)
  }
}

/**
 * Gives a directory to a user; one that came from a backup, or from a start without root, with all that is in it.
 * In a directory that is the user's own already, nothing is touched: the user may have put there what leads to
 * files of root.
 * @throws CommandError for a file that also has a name elsewhere
 */
function giveDirectory(path: string, owner: Identity): void {
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
