import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { must, type Running, run, start } from '../processes/exec.ts'

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
/** Images and containers of the tests, separate from this machine's others; kept to make later runs fast. */
export const STORE = `${ROOT}.postern/containers`

/** An image may have to be built from nothing. */
const PATIENCE = 900_000
const OWN = ['--root', `${STORE}/images`, '--runroot', `${STORE}/run`]

/**
 * Builds and keeps images.
 * @returns its output
 */
export function buildah(...args: string[]): Promise<string> {
  mkdirSync(STORE, { recursive: true })
  return must(['buildah', ...OWN, ...args], { timeoutMs: PATIENCE })
}

export function tryBuildah(...args: string[]) {
  return run(['buildah', ...OWN, ...args], { timeoutMs: PATIENCE })
}

/**
 * crun refuses to start where both versions of cgroups are mounted. Here it finds none, so limits on memory and
 * processes are not tested.
 */
const WITHOUT_CGROUPS = ['unshare', '--mount', '--propagation=slave', 'sh', '-c']
const HIDE = 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"'

function crunArgv(args: string[]): string[] {
  const own = ['--cgroup-manager=disabled', '--root', `${STORE}/crun`]
  return [...WITHOUT_CGROUPS, HIDE, 'sh', 'crun', ...own, ...args]
}

export const crun = (...args: string[]) => run(crunArgv(args))

/** A container in the foreground: it ends with this program's end. */
export function startCrun(args: string[], logFile: string): Running {
  return start(crunArgv(args), { logFile })
}

let containers = 0

/** Carries the pid of the test, so that a later one can sweep what a killed one left behind. */
export const nextId = () => `pt${process.pid.toString(36)}x${containers++}`

/** Removes the containers of test processes that are gone. */
export async function sweep(): Promise<void> {
  const names = (await buildah('containers', '--all', '--format', '{{.ContainerName}}')).split('\n')
  for (const name of names) {
    const pid = /^pt([0-9a-z]+)x\d+$/.exec(name)?.[1]
    if (pid && !existsSync(`/proc/${Number.parseInt(pid, 36)}`)) await removeContainer(name)
  }
}

export async function removeContainer(id: string): Promise<void> {
  await crun('delete', '--force', id)
  await tryBuildah('umount', id)
  await tryBuildah('rm', id)
}
