import type { RunResult } from '@postern/host/processes/exec'
import { isRunning } from '@postern/host/processes/processes'
import { errorFrom, PartFailedError, PartMissingError } from '../part.ts'
import { markAsOwn, type OwnTunnel } from './owner.ts'
import { findKind, findTunnel } from './wg.ts'

export interface InterfaceOptions extends OwnTunnel {
  dir: string
}

const TIMEOUT = { timeoutMs: 10_000 }
/** How long wireguard-go may take to make its interface, in ms. */
const START_DEADLINE = 8000
/** How long an interface may be there before the wireguard-go behind it answers, in ms. */
const PATIENCE = 3000
const NO_KERNEL_WIREGUARD = /unknown device type|not supported/i

/**
 * Waits for the interface or makes it: in the kernel if possible, else with wireguard-go.
 * @throws PartMissingError, PartFailedError
 */
export async function ensureInterface(options: InterfaceOptions): Promise<void> {
  const kind = await findKind(options.exec, options.interface)
  if (kind === 'wireguard' || (kind === 'tun' && (await answersWithin(options, PATIENCE)))) return
  // Its wireguard-go has ended, so it cannot be adopted.
  if (kind === 'tun') await removeInterface(options)
  else if (kind !== undefined)
    throw new PartFailedError(`${options.interface} is an interface of another kind (${kind}).`)
  await createInterface(options)
  await markAsOwn(options)
}

async function answers(options: InterfaceOptions): Promise<boolean> {
  return (await findTunnel(options.exec, options.interface)) !== undefined
}

/** Does nothing when there is no such interface. @throws PartMissingError, PartFailedError */
export async function removeInterface(options: Pick<OwnTunnel, 'exec' | 'interface'>): Promise<void> {
  if ((await findKind(options.exec, options.interface)) === undefined) return
  const { code, stderr } = await ip(options, 'link', 'del', 'dev', options.interface)
  if (code !== 0) throw errorFrom(`Removing ${options.interface}`, stderr)
}

async function createInterface(options: InterfaceOptions): Promise<void> {
  const { code, stderr } = await ip(options, 'link', 'add', options.interface, 'type', 'wireguard')
  if (code === 0) return
  // The wireguard-go of an edge that was killed right after it had started one.
  if (/file exists/i.test(stderr) && (await answersWithin(options, PATIENCE))) return
  if (!NO_KERNEL_WIREGUARD.test(stderr)) throw errorFrom('Making the tunnel', stderr)
  if (!(await isStartingUp(options))) await startUserspace(options)
}

/**
 * A wireguard-go that answers without an interface here is ending after its interface was removed, is starting for an
 * edge that was killed, or belongs to another network namespace: all of them share one control socket, so a second
 * one of that name would talk to the first.
 * @throws PartFailedError when it stays
 */
async function isStartingUp(options: InterfaceOptions): Promise<boolean> {
  const deadline = performance.now() + PATIENCE
  while (await answers(options)) {
    if (await findKind(options.exec, options.interface)) return true
    if (performance.now() > deadline)
      throw new PartFailedError(`Another wireguard-go of this machine is called ${options.interface}.`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  return false
}

async function startUserspace(options: InterfaceOptions): Promise<void> {
  const log = `${options.dir}/${options.interface}.log`
  const streams = { stdoutFile: log, stderrFile: log, unit: `postern-wireguard-${options.interface}` }
  const pid = await options.exec
    .startDetached('wireguard-go', ['-f', options.interface], streams)
    .catch((error: { code?: string }) => {
      if (error.code !== 'program_missing') throw error
      throw new PartMissingError('The kernel has no WireGuard, and wireguard-go is not installed.')
    })
  if (!(await answersWithin(options, START_DEADLINE, () => isRunning(pid))))
    throw new PartFailedError(`wireguard-go did not start; ${log} says why. It needs /dev/net/tun.`)
}

/** @param isThere whether the program that would answer still runs; if not, there is no reason to wait */
async function answersWithin(options: InterfaceOptions, ms: number, isThere = () => true): Promise<boolean> {
  const deadline = performance.now() + ms
  for (;;) {
    if ((await findKind(options.exec, options.interface)) && (await answers(options))) return true
    if (performance.now() > deadline || !isThere()) return false
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

function ip(options: Pick<OwnTunnel, 'exec'>, ...args: string[]): Promise<RunResult> {
  return options.exec.run('ip', args, TIMEOUT)
}
