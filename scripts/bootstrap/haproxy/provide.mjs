import { execFile } from 'node:child_process'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  HAPROXY_NEWEST,
  HAPROXY_PLACE,
  OLDEST_HAPROXY,
  parseHaproxyVersion,
} from '../../../packages/host/src/haproxy-place.mjs'
import { reasonIn, StepError, say } from '../step.mjs'
import { currentFolder, installHaproxy, PACKAGED } from './install.mjs'

const CACHE = '/var/cache/postern-haproxy'

/** Whether the machine's own HAProxy, or that of a package which it could install, understands our configuration. */
export async function hasOwnHaproxy(env) {
  return isGood(await tryToRun('haproxy', ['-v'], env))
}

export async function couldHaveOwnHaproxy(env) {
  const policy = await tryToRun('apt-cache', ['policy', 'haproxy'], env)
  return isGood(/^ +Candidate: (\S+)/m.exec(policy)?.[1] ?? '')
}

const isGood = (said) => parseHaproxyVersion(said)?.isTooOld === false

/** @returns what it printed; nothing when it is not there or fails */
async function tryToRun(program, args, env) {
  const options = { env: { ...process.env, ...env, LC_ALL: 'C' }, timeout: 10_000 }
  return await promisify(execFile)(program, args, options).then(
    ({ stdout }) => stdout,
    () => '',
  )
}

/**
 * Sees that the newest of Debian 13 is where the edge looks first, where the machine's own HAProxy is too old, and
 * nothing of ours where it is not. Once a day it asks for a newer one.
 * @throws StepError when there would be none
 */
export async function provideHaproxy(env) {
  if (await hasOwnHaproxy(env)) return removeOurs()
  const before = existsSync(join(currentFolder(HAPROXY_PLACE), 'haproxy'))
  if (!before) say(`Fetching HAProxy of Debian 13, as this machine has none from ${OLDEST_HAPROXY} on …`)
  try {
    const { version, isNew } = await installHaproxy(HAPROXY_PLACE, CACHE)
    if (before && isNew) say(`HAProxy ${version} has come; it takes over without a cut.`)
    noteNewest(version)
  } catch (error) {
    const reason = reasonIn(error.stderr || error.message)
    if (before) return say(`Postern could not ask for a newer HAProxy: ${reason}`)
    throw new StepError(
      `HAProxy of Debian 13 could not be fetched: ${reason}. Install HAProxy ${OLDEST_HAPROXY} or later yourself, then try again`,
    )
  }
}

/** What a package of ours brought goes with that package. */
function removeOurs() {
  if (existsSync(join(HAPROXY_PLACE, 'haproxy', PACKAGED))) return
  for (const path of ['bin/haproxy', 'haproxy'])
    rmSync(join(HAPROXY_PLACE, path), { recursive: true, force: true })
  rmSync(CACHE, { recursive: true, force: true })
}

/** Has the edge say that an update waits, for as long as an older one runs. */
export function noteNewest(version) {
  writeFileSync(`${HAPROXY_NEWEST}.next`, `${version}\n`)
  renameSync(`${HAPROXY_NEWEST}.next`, HAPROXY_NEWEST)
}
