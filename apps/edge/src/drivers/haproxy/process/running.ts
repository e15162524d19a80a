import { readdir, readFile } from 'node:fs/promises'
import { SYSTEM_USERS } from '@postern/contract/installation'
import { findSystemUser, type SystemUser } from '../../../system-user.ts'
import { type HaproxySocket, HaproxySocketError } from '../runtime/socket.ts'
import { readRights } from './rights.ts'

/**
 * Whom HAProxy becomes: our own user, or the one that Debian's package made. Undefined when it cannot become anybody:
 * the caller is not root, or root of a container.
 */
export async function findProxyUser(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0 || !(await readRights()).mayChangeUser) return undefined
  return await findSystemUser([SYSTEM_USERS.proxy, 'haproxy', 'nobody'])
}

/** The HAProxy that answers on our socket. */
export interface RunningHaproxy {
  pid: number
  version: string
  /** What its configuration was marked with. */
  mark: string
  /** About what visitors make it hold, in MB. */
  held: number
}

/** What the TLS of a connection takes beside HAProxy's own pools, in MB. */
const TLS_CONNECTION = 0.05

/**
 * A HAProxy that was taken over may name any process of the machine as its own, so the kernel is asked whether it is one
 * of ours.
 * @returns undefined when nobody answers, `silent` when somebody listens and says nothing
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
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(answer)?.[1]
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

/** Those of `pids` that are ours; one that has ended and waits to be reaped is not. */
export async function listOwnAmong(pids: readonly number[], config: string): Promise<number[]> {
  const owners = await findOwners()
  const isOwn = await Promise.all(pids.map((pid) => isOwnProcess(pid, config, owners)))
  return pids.filter((_, index) => isOwn[index])
}

/** By what everybody may read: the link to the program itself takes a right to look into every process. */
async function isOwnProcess(pid: number, config: string, owners: ReadonlySet<string>): Promise<boolean> {
  try {
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
    if (args[args.indexOf('-f') + 1] !== config) return false
    return isTrusted(await readFile(`/proc/${pid}/status`, 'utf8'), owners)
  } catch {
    // It ended while it was looked at, or it is somebody's whose processes we may not read.
    return false
  }
}

/** Whom a HAProxy of ours runs as; a stranger can call a process as he likes, but not be one of them. */
async function findOwners(): Promise<ReadonlySet<string>> {
  const user = await findProxyUser()
  return new Set([0, process.getuid?.() ?? 0, user?.uid ?? 0].map(String))
}

/** @param status of /proc: a process that has ended and waits to be reaped is not one any more */
function isTrusted(status: string, owners: ReadonlySet<string>): boolean {
  const field = (name: string) => new RegExp(`^${name}:\\t(\\S+)`, 'm').exec(status)?.[1] ?? ''
  return field('Name') === 'haproxy' && field('State') !== 'Z' && owners.has(field('Uid'))
}
