import { readdir, readFile } from 'node:fs/promises'
import { SYSTEM_USERS } from '@postern/contract/installation'
import { findSystemUser, type SystemUser } from '../../../system-user.ts'
import { type HaproxySocket, HaproxySocketError } from '../runtime/socket.ts'
import { readRights } from './rights.ts'

/**
 * The user that HAProxy becomes: ours, or the one of Debian's package. Undefined when it keeps the caller's user, who
 * is not root, or is root in a container.
 */
export async function findProxyUser(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0 || !(await readRights()).mayChangeUser) return undefined
  return await findSystemUser([SYSTEM_USERS.proxy, 'haproxy', 'nobody'])
}

/** The HAProxy that answers on our socket. */
export interface RunningHaproxy {
  pid: number
  version: string
  /** The mark of its configuration. */
  mark: string
  /** About how much memory visitors make it hold, in MB. */
  held: number
}

/** Memory of a TLS connection beyond HAProxy's own pools, in MB. */
const TLS_CONNECTION = 0.05

/**
 * A HAProxy that was taken over may name any process of the machine as its own, so the kernel is asked whether it is one
 * of ours.
 * @returns undefined when nothing listens, `silent` when a program listens and does not answer
 */
export async function findRunning(
  socket: HaproxySocket,
  config: string,
): Promise<RunningHaproxy | 'silent' | undefined> {
  const answer = await socket.send('show info').catch((error: unknown) => {
    if (error instanceof HaproxySocketError) return error
    throw error
  })
  if (typeof answer !== 'string') return answer.isSilence ? 'silent' : undefined
  const field = (name: string) => new RegExp(`^${name}: (.{0,100})`, 'm').exec(answer)?.[1]
  const [pid, version, mark] = [Number(field('Pid')), field('Version'), field('description')]
  if (!version || (await listOwnAmong([pid], config)).length === 0) return undefined
  const [inUse, connections] = [Number(field('PoolUsed_MB') ?? 0), Number(field('CurrConns') ?? 0)]
  return { pid, version, mark: mark ?? '', held: inUse + connections * TLS_CONNECTION }
}

/**
 * The processes that run haproxy with our configuration file, whether they answer or not. Another HAProxy of this
 * machine has another file and is never among them.
 */
export async function listOwnProcesses(config: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  return await listOwnAmong(pids, config)
}

/** Those of `pids` that are ours, without zombies. */
export async function listOwnAmong(pids: readonly number[], config: string): Promise<number[]> {
  const owners = await findOwners()
  const isOwn = await Promise.all(pids.map((pid) => isOwnProcess(pid, config, owners)))
  return pids.filter((_, index) => isOwn[index])
}

/** Uses what every user may read: the link to the program needs the right to inspect every process. */
async function isOwnProcess(pid: number, config: string, owners: ReadonlySet<string>): Promise<boolean> {
  try {
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
    if (args[args.indexOf('-f') + 1] !== config) return false
    return isTrusted(await readFile(`/proc/${pid}/status`, 'utf8'), owners)
  } catch {
    // It ended during the check, or belongs to a user whose processes we may not read.
    return false
  }
}

/** The users that our HAProxy runs as: anybody can name a process `haproxy`, but not run it as one of these. */
async function findOwners(): Promise<ReadonlySet<string>> {
  const user = await findProxyUser()
  return new Set([0, process.getuid?.() ?? 0, user?.uid ?? 0].map(String))
}

/** @param status the text of /proc/PID/status: a zombie does not count as a process */
function isTrusted(status: string, owners: ReadonlySet<string>): boolean {
  const field = (name: string) => new RegExp(`^${name}:\\t(\\S+)`, 'm').exec(status)?.[1] ?? ''
  return field('Name') === 'haproxy' && field('State') !== 'Z' && owners.has(field('Uid'))
}
