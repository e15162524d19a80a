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
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { installationPaths } from '@postern/contract/installation'
import { messageOf } from '@postern/host/errors'
import { writeAtomic } from '@postern/host/files'
import { CommandError, runArgv } from './command.ts'
import { asUser, type Identities, type Identity } from './users.ts'

const ROOT: Identity = { uid: 0, gid: 0 }

/**
 * Makes the data directory as installation.ts describes it. What is already right stays untouched.
 * @param identities absent without root: everything then belongs to the user who starts Postern
 */
export async function prepareDataDir(dataDir: string, identities?: Identities): Promise<void> {
  const paths = installationPaths(dataDir)
  makeOuter(dataDir)
  if (identities) await openTo(identities.server, dataDir)
  makeDirectory(paths.serverDir, 0o700, identities?.server)
  // Set-group-ID, so that the server's socket gets HAProxy's group, which the server does not belong to.
  const runOwner = identities && { uid: identities.server.uid, gid: identities.proxy.gid }
  makeDirectory(paths.runDir, runOwner ? 0o2750 : 0o750, runOwner)
  makeDirectory(paths.edgeDir, 0o700, identities && ROOT)
  if (identities) {
    // The edge manages its contents but, confined by its unit, cannot create the directory itself.
    makeDirectory(paths.lanesDir, 0o710, { uid: 0, gid: identities.proxy.gid })
    makeDirectory(paths.programDir, 0o755, ROOT)
  }
  await makeEdgeToken(paths.edgeToken, identities && { uid: 0, gid: identities.server.gid })
}

function makeOuter(dataDir: string): void {
  assertNobodySwaps(dataDir)
  if (!existsSync(dataDir)) {
    tryTo(`create ${dataDir}`, () => makeWithParents(dataDir))
    return
  }
  const { uid, gid, mode } = statSync(dataDir)
  const isMine = uid === (process.getuid?.() ?? uid)
  // Many users have a private group, which may write to everything they create.
  const isOthersToo = mode & 0o002 || (mode & 0o020 && gid !== (process.getgid?.() ?? gid))
  if (!isMine || isOthersToo)
    throw new CommandError(
      `${dataDir} must belong to the user who starts Postern and be writable by that user only: set POSTERN_DATA_DIR to another directory`,
    )
}

/**
 * Lets the server's user through to its own directories. Opens a closed directory of root's that holds only ours: one
 * that was made for Postern with other permissions, or under a strict umask.
 */
async function openTo(user: Identity, dataDir: string): Promise<void> {
  const canEnter = async (path: string) => (await runArgv([...asUser(user), 'test', '-x', path])).code === 0
  if (await canEnter(dataDir)) return
  for (const path of listAbove(dataDir).reverse()) if (!(await canEnter(path))) throw cannotEnter(path)
  const paths = Object.values(installationPaths(dataDir))
  const own = new Set(paths.map((path) => relative(dataDir, path).split('/')[0]))
  if (!readdirSync(dataDir).every((name) => own.has(name))) throw cannotEnter(dataDir)
  chmodSync(dataDir, 0o755)
}

const cannotEnter = (path: string) =>
  new CommandError(
    `the server's user cannot enter ${path}: run chmod o+x ${path}, or set POSTERN_DATA_DIR to another directory`,
  )

/** A user who may rename a directory above could make root write to another one, and HAProxy start from it. */
function assertNobodySwaps(dataDir: string): void {
  if (process.getuid?.() !== 0) return
  const above = listAbove(dataDir).filter((path) => existsSync(path))
  const real = realpathSync(existsSync(dataDir) ? dataDir : (above[0] ?? '/'))
  for (const path of new Set([...above, real, ...listAbove(real)])) {
    if (path === dataDir) continue
    const { uid, gid, mode } = statSync(path)
    // In a sticky directory like /tmp, users can rename only their own files.
    const isOthersToo = (mode & 0o002 || (mode & 0o020 && gid !== 0)) && !(mode & 0o1000)
    if (uid !== 0 || isOthersToo)
      throw new CommandError(
        `${path} must belong to root and be writable by root only, or other users could replace ${dataDir}: set POSTERN_DATA_DIR to another directory`,
      )
  }
}

/** The directories above a path, the nearest first. */
function listAbove(path: string): string[] {
  return path === '/' ? [] : [dirname(path), ...listAbove(dirname(path))]
}

/** Not `recursive: true`, which never returns below /proc and the like, where it cannot make a directory. */
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

/** The edge's token for the server. Created once; only root and the server can read it. */
export async function makeEdgeToken(path: string, owner?: Identity): Promise<void> {
  try {
    if (!existsSync(path)) await writeAtomic(path, `${randomBytes(32).toString('base64url')}\n`, 0o600)
    if (owner) chownSync(path, owner.uid, owner.gid)
    chmodSync(path, owner ? 0o640 : 0o600)
  } catch (error) {
    throw cannot(`write ${path}`, error)
  }
}

/** The next start creates another one. In a container it is a link, in a directory that nobody can write to. */
export function removeEdgeToken(path: string): void {
  if (existsSync(path)) rmSync(realpathSync(path))
}

function tryTo(what: string, action: () => void): void {
  try {
    action()
  } catch (error) {
    throw cannot(what, error)
  }
}

const cannot = (what: string, error: unknown) => new CommandError(`cannot ${what}: ${messageOf(error)}`)

/**
 * Gives a directory to a user; one from a backup, or from a start without root, with everything in it. Touches
 * nothing in a directory that already belongs to the user, who may have put links to root's files there.
 * @throws CommandError for a file that also has a name elsewhere
 */
function giveDirectory(path: string, owner: Identity): void {
  const { uid, gid } = statSync(path)
  if (uid === owner.uid && gid === owner.gid) return
  if (uid !== owner.uid) {
    // From here on, no other user can enter.
    chownSync(path, 0, 0)
    chmodSync(path, 0o700)
    giveContents(path, owner)
  }
  chownSync(path, owner.uid, owner.gid)
}

/** Each step starts from an open directory, so replacing one with a link meanwhile has no effect. */
function giveContents(path: string, owner: Identity, flags = 0): void {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | flags)
  try {
    const here = `/proc/self/fd/${directory}`
    for (const entry of readdirSync(here, { withFileTypes: true })) {
      const inside = `${here}/${entry.name}`
      if (entry.isDirectory()) giveContents(inside, owner, constants.O_NOFOLLOW)
      else if (lstatSync(inside).nlink > 1)
        throw new CommandError(
          `${basename(inside)} is a hard link to a file outside ${path}: copy the file instead`,
        )
      lchownSync(inside, owner.uid, owner.gid)
    }
  } finally {
    closeSync(directory)
  }
}
