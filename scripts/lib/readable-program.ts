import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChildProcess, launchHolder, must, run } from '@postern/host/exec'
import { CommandError } from './errors.ts'
import type { Identity } from './users.ts'

/** The repository as the server's user sees it. */
export interface ProgramView {
  /** Where the repository is for that user. */
  root: string
  /** argv that goes before a program to see it there. */
  enter: string[]
  close(): void
}

/** argv that makes a program run as a user, with that group only, no capability and no way to new ones. */
export function asUser({ uid, gid }: Identity): string[] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  const less = ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all']
  return ['setpriv', ...ids, ...less, '--pdeathsig=TERM', '--']
}

/**
 * A clone below /root or another closed home cannot be read by the server's user. The server then runs in a
 * mount namespace of its own, in which the repository is also at `place`, a directory, read-only. On the machine itself
 * nothing changes.
 */
export async function openProgramView(root: string, place: string, user: Identity): Promise<ProgramView> {
  const canRead = async (argv: string[]) => {
    const [program = '', ...args] = argv
    return (await run(program, args)).code === 0
  }
  const probe = (at: string) => [
    ...asUser(user),
    'test',
    '-r',
    `${at}/package.json`,
    '-a',
    '-x',
    `${at}/node_modules/.bin/node`,
  ]
  if (await canRead(probe(root))) return { root, enter: [], close: () => undefined }
  const holder = launchHolder(['unshare', '--mount', '--propagation=private', 'cat'])
  const close = () => void holder.stdin?.end()
  try {
    const namespace = await untilEntered(holder)
    await must('mount', ['--namespace', namespace, '--bind', root, place])
    await must('mount', ['--namespace', namespace, '-o', 'remount,bind,ro', place])
    const enter = ['nsenter', `--mount=${namespace}`]
    if (await canRead([...enter, ...probe(place)])) return { root: place, enter, close }
  } catch (error) {
    close()
    throw new CommandError(`${unreadable(root)} (${error instanceof Error ? error.message : error})`)
  }
  close()
  throw new CommandError(unreadable(root))
}

const unreadable = (root: string) =>
  `the server's user cannot read ${root}: clone the repository to a place like /opt/postern, or chmod -R o+rX it`

/** Waits until `unshare` has become the program that holds the namespace. @returns the namespace's path */
async function untilEntered({ pid }: ChildProcess): Promise<string> {
  for (let tries = 0; tries < 200; tries++) {
    if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'cat') return `/proc/${pid}/ns/mnt`
    await sleep(10)
  }
  throw new Error('unshare did not make a namespace')
}
