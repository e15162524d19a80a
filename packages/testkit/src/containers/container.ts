import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Namespace } from '../lab/namespace.ts'
import type { Finished } from '../processes/exec.ts'
import { whenStarted } from '../processes/started.ts'
import { inspectImage } from './build-image.ts'
import { type Bind, renderBundle } from './bundle.ts'
import { type ComposeService, parseDuration } from './compose.ts'
import { type ContainerProcess, listProcesses } from './processes.ts'
import { buildah, crun, nextId, removeContainer, startCrun, sweep } from './store.ts'
import { resolveUser } from './users.ts'
import { bindsOf } from './volumes.ts'

export interface ContainerOptions {
  image: string
  /** Its network namespace: it sees the devices and addresses there, and its ports are open there. */
  namespace: Namespace
  /** As parsed from the compose file: user, capabilities, mounts and all else are taken from it. */
  service: ComposeService
  /** On top of the service's. */
  env?: Record<string, string>
  /** A directory of this machine for each volume that the service names. */
  mounts?: Record<string, string>
  /** Files that Docker writes; by default only localhost, and no name server. */
  etc?: { hosts?: string; 'resolv.conf'?: string }
}

/** A container of one service, run by crun as in the compose file. */
export interface Container {
  id: string
  /** The container's files, as they are on this machine. */
  rootfs: string
  /** Its output. */
  logs(): string
  /** Runs a program in it, as its user and with no more rights. */
  exec(argv: readonly string[]): Promise<Finished>
  /** Runs the health check's command. */
  health(): Promise<Finished>
  processes(): ContainerProcess[]
  /** On this machine. */
  pids(): number[]
  isRunning(): boolean
  /**
   * Like `docker stop`: asks, waits for the service's grace period, then kills it. Its volumes stay.
   * @returns how it ended
   */
  stop(): Promise<Stopped>
}

export interface Stopped {
  seconds: number
  /** Null when it had to be killed. */
  code: number | null
}

export async function startContainer(options: ContainerOptions): Promise<Container> {
  await sweep()
  const id = nextId()
  const dir = mkdtempSync(`${tmpdir()}/${id}-`)
  await buildah('from', '--pull-never', '--name', id, options.image)
  const rootfs = (await buildah('mount', id)).trim()
  await writeBundle(dir, id, rootfs, options)
  const pidFile = `${dir}/pid`
  const running = startCrun(['run', '--bundle', dir, '--pid-file', pidFile, id], `${dir}/log`)
  let output = ''
  const logs = () => (existsSync(`${dir}/log`) ? readFileSync(`${dir}/log`, 'utf8') : output)
  const init = await whenStarted(running, `a container of ${options.image}`, () => findProcess(pidFile))
  const exec = (argv: readonly string[]) => execIn(dir, id, argv)
  const processes = () => listProcesses(init)
  return {
    id,
    rootfs,
    logs,
    exec,
    health: () => exec(healthArgv(options.service)),
    processes,
    pids: () => processes().map(({ pid }) => pid),
    isRunning: running.isRunning,
    async stop() {
      const stopped = await end(id, options.service, running.exited)
      output = logs()
      await removeContainer(id)
      rmSync(dir, { recursive: true, force: true })
      return stopped
    },
  }
}

/** A file that is still being written may hold half a number. */
function findProcess(pidFile: string): number | false {
  const pid = existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8'))
  return pid && existsSync(`/proc/${pid}/ns/pid`) ? pid : false
}

async function writeBundle(
  dir: string,
  id: string,
  rootfs: string,
  options: ContainerOptions,
): Promise<void> {
  const { service, env = {}, mounts = {} } = options
  const image = await inspectImage(options.image)
  const user = resolveUser(
    rootfs,
    String(service.user ?? image.User ?? ''),
    (service.group_add ?? []).map(String),
  )
  const binds = [...bindsOf(service, rootfs, mounts), ...writeEtc(dir, id, options)]
  const network = `/var/run/netns/${options.namespace.name}`
  const bundle = renderBundle({ rootfs, image, service, user, env, binds, network, hostname: id })
  writeFileSync(`${dir}/config.json`, JSON.stringify(bundle))
}

let execs = 0

/** With the container's user, groups and rights, which crun alone would not set completely. */
async function execIn(dir: string, id: string, args: readonly string[]): Promise<Finished> {
  // The kit's own file, as written above.
  const { process } = JSON.parse(readFileSync(`${dir}/config.json`, 'utf8')) as { process: object }
  const file = `${dir}/exec-${execs++}.json`
  writeFileSync(file, JSON.stringify({ ...process, args }))
  return await crun('exec', '--process', file, id)
}

/** The files that Docker mounts into each container. */
function writeEtc(dir: string, id: string, { etc = {} }: ContainerOptions): Bind[] {
  mkdirSync(`${dir}/etc`)
  const files = { hostname: `${id}\n`, hosts: '127.0.0.1 localhost\n', 'resolv.conf': '', ...etc }
  return Object.entries(files).map(([name, text]) => {
    writeFileSync(`${dir}/etc/${name}`, text)
    return { source: `${dir}/etc/${name}`, destination: `/etc/${name}`, readOnly: false }
  })
}

function healthArgv({ healthcheck }: ComposeService): string[] {
  const [kind, ...argv] = healthcheck?.test ?? []
  if (kind === 'CMD') return argv
  if (kind === 'CMD-SHELL') return ['/bin/sh', '-c', ...argv]
  throw new Error('the service has no health check')
}

async function end(id: string, service: ComposeService, exited: Promise<number | null>): Promise<Stopped> {
  const began = performance.now()
  const grace = parseDuration(service.stop_grace_period ?? '10s')
  await crun('kill', id, 'SIGTERM')
  let isForced = false
  const force = setTimeout(() => {
    isForced = true
    void crun('kill', id, 'SIGKILL')
  }, grace)
  const code = await exited
  clearTimeout(force)
  return { seconds: (performance.now() - began) / 1000, code: isForced ? null : code }
}
