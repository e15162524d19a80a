import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '@postern/host/errors'
import { type ChildProcess, launchHolder, must } from '@postern/host/processes/exec'
import { CommandError, runArgv } from '../command.ts'
import { ROOT } from '../environment.ts'
import type { Installation } from '../installation.ts'
import { asUser } from '../users.ts'

/** The repository as the server's user sees it. */
export interface ProgramView {
  /** Where the repository is for that user. */
  root: string
  /** argv to put before a program, so that it runs as that user and finds the repository there. */
  enter: string[]
  close(): void
}

/**
 * The server's user cannot read a clone below /root or in another closed home. The server then runs in a mount
 * namespace of its own, where the repository is also at `programDir`, read-only. Nothing changes on the machine
 * itself.
 */
export async function openProgramView({ identities, paths }: Installation): Promise<ProgramView> {
  const close = () => undefined
  if (!identities) return { root: ROOT, enter: [], close }
  const user = asUser(identities.server)
  if (await canRead(user, ROOT)) return { root: ROOT, enter: user, close }
  return await openMount(paths.programDir, user)
}

async function openMount(place: string, user: string[]): Promise<ProgramView> {
  const holder = launchHolder(['unshare', '--mount', '--propagation=private', 'cat'])
  const close = () => void holder.stdin?.end()
  try {
    const namespace = await untilEntered(holder)
    await must('mount', ['--namespace', namespace, '--bind', ROOT, place])
    await must('mount', ['--namespace', namespace, '-o', 'remount,bind,ro', place])
    const enter = ['nsenter', `--mount=${namespace}`, ...user]
    if (await canRead(enter, place)) return { root: place, enter, close }
    throw new CommandError(UNREADABLE)
  } catch (error) {
    close()
    throw error instanceof CommandError ? error : new CommandError(`${UNREADABLE} (${messageOf(error)})`)
  }
}

const UNREADABLE = `the server's user cannot read ${ROOT}: clone the repository to a place like /opt/postern, or run chmod -R o+rX on it`

async function canRead(enter: string[], root: string): Promise<boolean> {
  const both = ['-r', `${root}/package.json`, '-a', '-x', `${root}/node_modules/.bin/node`]
  return (await runArgv([...enter, 'test', ...both])).code === 0
}

/**
 * Waits until `unshare` has become the program that holds the namespace.
 * @returns the namespace's path
 * @throws Error with unshare's message when it made none
 */
export async function untilEntered(holder: ChildProcess): Promise<string> {
  let complaint = ''
  const collect = (chunk: Buffer) => {
    complaint = (complaint + chunk).slice(0, 1000)
  }
  holder.stderr?.on('data', collect)
  try {
    for (let tries = 0; tries < 200 && holder.exitCode === null; tries++) {
      if (programOf(holder.pid) === 'cat') return `/proc/${holder.pid}/ns/mnt`
      await sleep(10)
    }
  } finally {
    holder.stderr?.destroy()
  }
  throw new Error(complaint.trim() || 'unshare did not make a namespace')
}

function programOf(pid: number | undefined): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    // It has just ended; its exit code comes next.
    return undefined
  }
}
