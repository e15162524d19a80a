import { readdir, readFile, readlink } from 'node:fs/promises'
import { type HaproxySocket, HaproxySocketError } from './haproxy-socket.ts'

/** The HAProxy that answers on our socket. */
export interface RunningHaproxy {
  pid: number
  version: string
  /** What its configuration was marked with. */
  mark: string
}

/** @returns undefined when nobody answers. */
export async function findRunning(socket: HaproxySocket): Promise<RunningHaproxy | undefined> {
  const answer = await socket.send('show info').catch((error: unknown) => {
    if (error instanceof HaproxySocketError) return undefined
    throw error
  })
  const field = (name: string) => answer && new RegExp(`^${name}: (.*)$`, 'm').exec(answer)?.[1]
  const [pid, version, mark] = [field('Pid'), field('Version'), field('description')]
  return pid && version ? { pid: Number(pid), version, mark: mark ?? '' } : undefined
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
  const isOwn = await Promise.all(pids.map((pid) => isOwnProcess(pid, config)))
  return pids.filter((_, index) => isOwn[index])
}

async function isOwnProcess(pid: number, config: string): Promise<boolean> {
  try {
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
    if (args[args.indexOf('-f') + 1] !== config) return false
    return /\/haproxy( \(deleted\))?$/.test(await readlink(`/proc/${pid}/exe`))
  } catch {
    // It ended while it was looked at, or it is somebody's whose processes we may not read.
    return false
  }
}
