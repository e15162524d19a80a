import { execFile } from 'node:child_process'
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { WAITING_UPDATES } from '../../packages/host/src/haproxy-place.mjs'

/** Debian packages whose programs read input from strangers. */
const EXPOSED = ['haproxy', 'nftables', 'wireguard-go', 'wireguard-tools']

const DAY = 24 * 3600 * 1000
/** apt gives its lists the server's times, so we keep a file that tells when they were fetched. */
const FETCHED = '/var/cache/postern-haproxy/package-lists'

/**
 * Fetches the package lists, unless they were fetched within a day.
 * @param run resolves to the program's output if it failed
 * @returns apt's output if it failed
 */
export async function refreshPackageLists(env, { stamp = FETCHED, now = Date.now(), run = tryTo } = {}) {
  const fetched = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (Math.abs(now - fetched) < DAY) return undefined
  const args = ['-o', 'Acquire::Retries=2', '-o', 'Acquire::http::Timeout=20', 'update']
  const failure = await run('apt-get', args, { seconds: 120, env })
  if (failure !== undefined) return failure
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, '')
  return undefined
}

/** Without a log in the clone, which the units may not write. */
async function tryTo(program, args, { seconds, env }) {
  const options = { env: { ...process.env, ...env }, timeout: seconds * 1000, maxBuffer: 1 << 24 }
  return await promisify(execFile)(program, args, options).then(
    () => undefined,
    (error) => error.stderr || error.message,
  )
}

/**
 * What apt would upgrade from a security suite, from the lines of its simulation, such as
 * `Inst haproxy [2.6.12-1+deb12u3] (2.6.12-1+deb12u4 Debian-Security:12/oldstable-security [amd64])`.
 */
export function parseSecurityUpdates(simulation) {
  const line = /^Inst (\S+) \[([^\]]+)\] \((\S+) ([^)]*)\)/gm
  return [...simulation.matchAll(line)]
    .filter(([, name, , , from]) => EXPOSED.includes(name) && /security/i.test(from))
    .map(([, name, installed, candidate]) => ({ name, installed, candidate }))
}

/** One line for the person who starts Postern, or undefined when nothing waits or apt cannot tell. */
export function describeSecurityUpdates(updates) {
  if (updates.length === 0) return undefined
  const each = updates.map(({ name, installed, candidate }) => `${name} (${installed} → ${candidate})`)
  const names = updates.map(({ name }) => name).join(' ')
  return `Security updates are waiting: ${each.join(', ')}. Install them with: apt-get install --only-upgrade ${names}`
}

/**
 * Asks apt what it would upgrade according to its lists; changes nothing.
 * @returns undefined when apt cannot tell
 */
export async function findSecurityUpdates(env) {
  try {
    const { stdout } = await promisify(execFile)(
      'apt-get',
      ['--simulate', 'install', '--only-upgrade', ...EXPOSED],
      { env: { ...process.env, ...env, LC_ALL: 'C' }, timeout: 30_000, maxBuffer: 1 << 20 },
    )
    return parseSecurityUpdates(stdout)
  } catch {
    // Postern starts even without lists, or on a machine whose apt is broken.
    return undefined
  }
}

/** Saves them for the edge to report. */
export function noteSecurityUpdates(updates, file = WAITING_UPDATES) {
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
  writeFileSync(`${file}.next`, `${JSON.stringify(updates)}\n`)
  renameSync(`${file}.next`, file)
}
