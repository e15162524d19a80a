import { mkdir, open, rm } from 'node:fs/promises'
import * as z from 'zod/mini'
import { codeOf } from './errors.ts'
import { findJson, findText } from './files.ts'
import type { AgentPaths } from './paths.ts'

/** The start time tells a daemon from a later process that happens to have its number. */
const Daemon = z.object({ pid: z.number(), started: z.string() })
export type Daemon = z.infer<typeof Daemon>

/** @returns the running daemon, or undefined. */
export async function findDaemon(paths: AgentPaths): Promise<Daemon | undefined> {
  const daemon = await findJson(paths.pid, Daemon)
  return daemon && (await isRunning(daemon)) ? daemon : undefined
}

export async function isRunning({ pid, started }: Daemon): Promise<boolean> {
  return (await findStartTime(pid)) === started
}

/** Claims to be the one daemon of this directory. @returns false when another one runs. */
export async function claimPidFile(paths: AgentPaths, pid: number): Promise<boolean> {
  await mkdir(paths.runDir, { recursive: true, mode: 0o700 })
  const started = await findStartTime(pid)
  for (let attempt = 0; attempt < 2; attempt++) {
    if (await findDaemon(paths)) return false
    // Nobody alive holds it; whoever creates it anew first has it.
    await rm(paths.pid, { force: true })
    if (await createExclusively(paths.pid, JSON.stringify({ pid, started }))) return true
  }
  return false
}

async function createExclusively(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(text)
    await file.close()
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

export async function removePidFile(paths: AgentPaths): Promise<void> {
  await rm(paths.pid, { force: true })
}

/**
 * Field 22 of /proc/PID/stat; the name before it may hold blanks and brackets. A process that has ended and
 * only waits to be collected, which may take for ever in a container, counts as gone.
 */
async function findStartTime(pid: number): Promise<string | undefined> {
  const stat = await findText(`/proc/${pid}/stat`)
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields?.[0] === 'Z' ? undefined : fields?.[19]
}
