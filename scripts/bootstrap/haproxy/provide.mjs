import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import {
  HAPROXY_BIN,
  HAPROXY_NEWEST,
  HAPROXY_PLACE,
  OLDEST_HAPROXY,
  parseHaproxyVersion,
} from '../../../packages/host/src/haproxy-place.mjs'
import { findSecurityUpdates } from '../security-updates.mjs'
import { reasonIn, StepError, say } from '../step.mjs'
import { PACKAGED } from './assemble.mjs'
import { currentFolder, installHaproxy } from './install.mjs'

const CACHE = '/var/cache/postern-haproxy'

/** Whether the machine's own HAProxy understands our configuration. */
export async function hasOwnHaproxy(env) {
  const program = findOwnProgram(env.PATH ?? '')
  return program !== undefined && isGood(await tryToRun(program, ['-v'], env))
}

/** Ours may be on the path too, when one of our programs runs this one. */
function findOwnProgram(path) {
  const files = path.split(':').map((folder) => join(folder, 'haproxy'))
  return files.find((file) => existsSync(file) && !realpathSync(file).startsWith(`${HAPROXY_PLACE}/`))
}

/** Whether the machine could install one that understands it. */
export async function couldHaveOwnHaproxy(env) {
  const policy = await tryToRun('apt-cache', ['policy', 'haproxy'], env)
  return isGood(/^ +Candidate: (\S+)/m.exec(policy)?.[1] ?? '')
}

const isGood = (said) => parseHaproxyVersion(said)?.isTooOld === false

/** @returns what it printed; empty when it is missing or fails */
async function tryToRun(program, args, env) {
  const options = { env: { ...process.env, ...env, LC_ALL: 'C' }, timeout: 30_000 }
  return await promisify(execFile)(program, args, options).then(
    ({ stdout }) => stdout,
    () => '',
  )
}

/**
 * Before a start: provides a HAProxy that understands our configuration, the newest one if possible.
 * @throws StepError when there would be none
 */
export async function provideHaproxy(env) {
  const isThere = existsSync(join(currentFolder(HAPROXY_PLACE), 'haproxy'))
  if (!isThere && !(await hasOwnHaproxy(env)))
    say(`Fetching HAProxy of Debian 13, as this machine has none from ${OLDEST_HAPROXY} on …`)
  try {
    const fetched = await keepHaproxyNew(env)
    if (isThere && fetched)
      say(`HAProxy ${fetched} is installed, and takes over without interrupting connections.`)
  } catch (error) {
    if (!isThere) throw error
    say(error.message)
  }
}

/**
 * Where the machine's own HAProxy is too old, puts the newest of Debian 13 where the edge looks first; it checks once
 * a day. Where the machine has one that is new enough, removes ours. Tells the edge which version is available.
 * @returns the version that has just been fetched
 * @throws StepError
 */
export async function keepHaproxyNew(env) {
  if (await hasOwnHaproxy(env)) {
    removeOurs()
    const waiting = (await findSecurityUpdates(env))?.find(({ name }) => name === 'haproxy')
    if (waiting) noteNewest(waiting.candidate)
    return undefined
  }
  const { version, isNew } = await installHaproxy(HAPROXY_PLACE, CACHE).catch((error) => {
    const reason = reasonIn(error.stderr || error.message)
    throw new StepError(
      `HAProxy of Debian 13 could not be fetched: ${reason}. It is tried again; or install HAProxy ${OLDEST_HAPROXY} or later yourself`,
    )
  })
  noteNewest(version)
  return isNew ? version : undefined
}

/** What our package installed is removed with it, but does not run any more. */
function removeOurs() {
  const folders = join(HAPROXY_PLACE, 'haproxy')
  rmSync(join(HAPROXY_BIN, 'haproxy'), { force: true })
  if (!existsSync(folders)) return
  for (const name of readdirSync(folders).filter((each) => !each.startsWith(PACKAGED)))
    rmSync(join(folders, name), { recursive: true, force: true })
}

/** Lets the edge report a waiting update while an older version runs. */
function noteNewest(version) {
  mkdirSync(dirname(HAPROXY_NEWEST), { recursive: true, mode: 0o755 })
  writeFileSync(`${HAPROXY_NEWEST}.next`, `${version}\n`)
  renameSync(`${HAPROXY_NEWEST}.next`, HAPROXY_NEWEST)
}
