import { execFile } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { attempt, ROOT } from './step.mjs'

/** Debian packages whose programs read what strangers send. */
const EXPOSED = ['haproxy', 'nftables', 'wireguard-go', 'wireguard-tools']

const DAY = 24 * 3600 * 1000
/** apt keeps the server's times on its lists, so only a file of our own tells when they were fetched. */
const FETCHED = join(ROOT, '.postern', 'package-lists')

/** Fetches the package lists, unless that was done here within a day. Resolves to what apt said when it failed. */
export async function refreshPackageLists(env, { stamp = FETCHED, now = Date.now(), run = attempt } = {}) {
  const fetched = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (Math.abs(now - fetched) < DAY) return undefined
  const args = ['-o', 'Acquire::Retries=2', '-o', 'Acquire::http::Timeout=20', 'update']
  const failure = await run('apt-get', args, { seconds: 120, env })
  if (failure !== undefined) return failure
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, '')
  return undefined
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

/** One line for the person who starts Postern, or undefined when nothing waits or apt does not say. */
export function describeSecurityUpdates(updates) {
  if (updates.length === 0) return undefined
  const each = updates.map(({ name, installed, candidate }) => `${name} (${installed} → ${candidate})`)
  const names = updates.map(({ name }) => name).join(' ')
  return `Security updates are waiting: ${each.join(', ')}. Install them with: apt-get install --only-upgrade ${names}`
}

/** Asks apt what it would upgrade by its lists; it changes nothing. */
export async function findSecurityUpdates(env) {
  try {
    const { stdout } = await promisify(execFile)(
      'apt-get',
      ['--simulate', 'install', '--only-upgrade', ...EXPOSED],
      { env: { ...process.env, ...env, LC_ALL: 'C' }, timeout: 30_000, maxBuffer: 1 << 20 },
    )
    return parseSecurityUpdates(stdout)
  } catch {
    // Without lists, or on a machine whose apt is broken, Postern starts all the same.
    return []
  }
}
