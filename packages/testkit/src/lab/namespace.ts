import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { codeOf } from '@postern/host/errors'
import { must, type Running, run, type StartOptions, start } from '../processes/exec.ts'

/** A network namespace of a test: a machine of its own, with a loopback and no wire yet. */
export interface Namespace {
  name: string
  /** The argv that runs a program in it. */
  argv(...command: string[]): string[]
  run(...command: string[]): ReturnType<typeof run>
  must(...command: string[]): Promise<string>
  start(command: string[], options: StartOptions): Running
  listPids(): Promise<number[]>
  /** Ends everything that runs in it, including programs that have outlived their starter. */
  remove(): Promise<void>
}

const PREFIX = 'pt'
let labs = 0

/**
 * The prefix of all names of a lab, its interfaces' too. It contains the test's pid, so that a later lab can remove
 * what a killed test left behind.
 */
export async function beginLab(): Promise<string> {
  if (process.getuid?.() !== 0) throw new Error('the network lab needs root: run these tests as root')
  const id = `${PREFIX}${process.pid.toString(36)}x${labs++}`
  await sweep()
  return id
}

/** @param etc files of /etc that its programs find instead of this machine's */
export async function addNamespace(name: string, etc: Record<string, string> = {}): Promise<Namespace> {
  mkdirSync(etcOf(name), { recursive: true })
  for (const [file, text] of Object.entries(etc)) writeFileSync(`${etcOf(name)}/${file}`, text)
  await must(['ip', 'netns', 'add', name])
  const added = namespace(name)
  await added.must('ip', 'link', 'set', 'lo', 'up')
  return added
}

/** Lays a wire between a device of one and a device of another; both are made, and are up. */
export async function connect(one: Namespace, device: string, other: Namespace, end: string): Promise<void> {
  await one.must('ip', 'link', 'add', device, 'type', 'veth', 'peer', 'name', end, 'netns', other.name)
  await one.must('ip', 'link', 'set', device, 'up')
  await other.must('ip', 'link', 'set', end, 'up')
}

function namespace(name: string): Namespace {
  const argv = (...command: string[]) => ['ip', 'netns', 'exec', name, ...command]
  const listPids = async () => {
    const { stdout } = await run(['ip', 'netns', 'pids', name])
    return stdout.split('\n').filter(Boolean).map(Number)
  }
  return {
    name,
    argv,
    run: (...command) => run(argv(...command)),
    must: (...command) => must(argv(...command)),
    start: (command, options) => start(argv(...command), options),
    listPids,
    async remove() {
      const { stdout } = await run(['ip', '-n', name, '-br', 'link', 'show', 'type', 'tun'])
      for (const pid of await listPids()) endProcess(pid)
      // A wireguard-go that is killed leaves its socket, which all namespaces share.
      for (const [tunnel] of stdout.matchAll(/^\S+/gm))
        rmSync(`/var/run/wireguard/${tunnel}.sock`, { force: true })
      await run(['ip', 'netns', 'del', name])
      rmSync(etcOf(name), { recursive: true, force: true })
    },
  }
}

/** `ip netns exec` mounts these files over /etc. */
const etcOf = (name: string) => `/etc/netns/${name}`

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // The system's errors have a code; a process that has ended is what we want.
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/** Removes the namespaces of test processes that are gone. */
async function sweep(): Promise<void> {
  const { stdout } = await run(['ip', 'netns', 'list'])
  for (const line of stdout.split('\n')) {
    const name = line.split(' ')[0] ?? ''
    const pid = new RegExp(`^${PREFIX}([0-9a-z]+)x\\d+-`).exec(name)?.[1]
    if (pid && !existsSync(`/proc/${Number.parseInt(pid, 36)}`)) await namespace(name).remove()
  }
}
