import { readFile, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Exec } from '@postern/host/processes/exec'
import { isRunning, kill } from '@postern/host/processes/processes'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import { type HaproxySocket, HaproxySocketError } from '../runtime/socket.ts'
import type { Draining } from './draining.ts'
import { createLife } from './life.ts'
import type { HaproxyProgram } from './program.ts'
import { haproxyArgv, readRights } from './rights.ts'
import { findRunning, listOwnAmong, listOwnProcesses, type RunningHaproxy } from './running.ts'

/** HAProxy does not run as wanted; `message` is for people, `output` is what HAProxy wrote. */
export class HaproxyStartError extends Error {
  readonly code = 'haproxy_start'
  readonly output: string
  constructor(output: string, message = explainStart(output)) {
    super(message)
    this.output = output
  }
}

export interface HaproxyProcess {
  /**
   * The HAProxy of ours that answers. One that hangs is ended first, so there is never a second.
   * @throws HaproxySocketError when it works but is too busy to answer: its connections are worth more than our
   * changes
   */
  findOrEnd(): Promise<RunningHaproxy | undefined>
  /**
   * Starts one from the files; it outlives the edge.
   * @param old hands over its ports without a gap and finishes its connections.
   * @throws HaproxyStartError, PartFailedError, ProgramMissingError
   */
  start(mark: string, old: RunningHaproxy | undefined): Promise<RunningHaproxy>
  /**
   * Ends those that have handed over and still finish their connections: they still use the previous routes, and
   * cannot be asked which connection belongs to which service.
   */
  endOthers(pid: number): Promise<void>
  /** Ends all of ours. */
  stop(): Promise<void>
}

/** How long a running HAProxy may be silent before it counts as hanging. */
const PATIENCE = 3_000
/** The same for one that uses the processor. */
const LONG_PATIENCE = 60_000
/** How long a process has to obey a signal. */
const END_TIMEOUT = 1_000
const BUSY = 'HAProxy is too busy to answer the edge; it still serves visitors'
/** A thousand certificates take two seconds. */
const START_TIMEOUT = 30_000

/** @param prepareFiles updates the files from which HAProxy starts */
export function createHaproxyProcess(
  exec: Exec,
  paths: HaproxyPaths,
  socket: HaproxySocket,
  unit: string,
  prepareFiles: () => Promise<void>,
  draining: Draining,
  program: HaproxyProgram,
): HaproxyProcess {
  let starts = 0
  // They only finish their connections and disturb nothing.
  const handedOver = new Set<number>()
  // A previous edge process may have left some; later ones come from our own reloads only. Looking for them reads all of /proc.
  let mayHaveOthers = true
  let silentSince: number | undefined
  /** @param running is not ended */
  const endAll = async (running?: number) => {
    await draining.dismiss(running)
    const pids = await listOwnProcesses(paths.config)
    await end(
      pids.filter((pid) => pid !== running),
      paths.config,
    )
  }
  return {
    async findOrEnd() {
      const deadline = Date.now() + PATIENCE
      const life = createLife()
      for (;;) {
        const running = await findRunning(socket, paths.config)
        if (running !== 'silent') silentSince = undefined
        if (running && running !== 'silent') return running
        silentSince ??= Date.now()
        const pids = (await listOwnProcesses(paths.config)).filter((pid) => !handedOver.has(pid))
        if (pids.length === 0) return undefined
        const isAlive = running === 'silent' && (await life.hasMoved(pids))
        if (Date.now() > deadline) {
          if (isAlive && Date.now() - silentSince < LONG_PATIENCE) throw new HaproxySocketError(BUSY, true)
          return void (await endAll())
        }
        await delay(50)
      }
    },
    async start(mark, old) {
      await program.look()
      await prepareFiles()
      await rm(paths.output, { force: true })
      // When there is none to take over from, the others must end: nobody would correct their routes any more.
      if (!old) await endAll()
      else await draining.hold(old.pid)
      const handOver = old ? ['-x', paths.socket, '-sf', String(old.pid)] : []
      starts++
      const args = ['-D', '-f', paths.config, '-p', paths.pid, ...handOver]
      const argv = haproxyArgv(args, process.getuid?.() === 0, await readRights())
      const parent = await exec.startDetached(...argv, {
        stdoutFile: paths.output,
        stderrFile: paths.output,
        unit: `${unit}-${process.pid}-${starts}`,
      })
      if (old) mayHaveOthers = true
      const answering = untilAnswering({ paths, socket, mark, parent, old })
      if (!old) return await answering
      const running = await answering.catch(async (error: unknown) => {
        await draining.release(old.pid)
        throw error
      })
      handedOver.add(old.pid)
      await end(await draining.thin(), paths.config)
      return running
    },
    async endOthers(pid) {
      if (!mayHaveOthers) return
      await endAll(pid)
      mayHaveOthers = false
    },
    stop: () => endAll(),
  }
}

interface Start {
  paths: HaproxyPaths
  socket: HaproxySocket
  mark: string
  parent: number
  old: RunningHaproxy | undefined
}

/** The parent binds the ports, leaves a child behind and ends; when it fails, it only ends. */
async function untilAnswering({ paths, socket, mark, parent, old }: Start): Promise<RunningHaproxy> {
  const deadline = Date.now() + START_TIMEOUT
  while (Date.now() < deadline) {
    const isStarting = isRunning(parent)
    const running = await findRunning(socket, paths.config)
    if (running && running !== 'silent' && running.pid !== old?.pid && running.mark === mark) return running
    if (!isStarting) {
      const others = (await listOwnProcesses(paths.config)).filter((pid) => pid !== old?.pid)
      if (others.length === 0) break
    }
    await delay(10)
  }
  throw new HaproxyStartError(await readFile(paths.output, 'utf8'))
}

async function end(pids: readonly number[], config: string): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const deadline = Date.now() + END_TIMEOUT
    let left = await listOwnAmong(pids, config)
    for (const pid of left) kill(pid, signal)
    while (left.length > 0 && Date.now() < deadline) {
      await delay(10)
      left = await listOwnAmong(left, config)
    }
  }
}

/** @param ports at least one */
export function heldPorts(ports: readonly number[]): string {
  const unique = [...new Set(ports)].sort((a, b) => a - b)
  const [noun, verb] = unique.length > 1 ? ['Ports', 'are'] : ['Port', 'is']
  return `${noun} ${unique.join(' and ')} ${verb} held by another program`
}

/** Turns HAProxy's output into a message, when it did not start. */
export function explainStart(output: string): string {
  const held = boundPorts(output, 'Address already in use')
  if (held.length > 0) return heldPorts(held)
  const denied = boundPorts(output, 'Permission denied')
  if (denied.length > 0)
    return `HAProxy may not open port ${[...new Set(denied)].join(' and ')}: it needs root`
  const [, needed, allowed] = /Cannot raise FD limit to (\d+), limit is (\d+)/.exec(output) ?? []
  if (needed)
    return `HAProxy needs ${needed} open files and may have ${allowed}: raise the limit of the program that starts Postern (ulimit -Hn, or LimitNOFILE= of its unit)`
  const alert = /\[ALERT\][^:]*: (?:config : )?(.*)/.exec(output)?.[1]
  return `HAProxy does not start: ${(alert ?? 'it gave no reason').slice(0, 300)}`
}

function boundPorts(output: string, reason: string): number[] {
  const found = output.matchAll(new RegExp(`cannot bind socket \\(${reason}\\) for \\[.*?:(\\d+)\\]`, 'g'))
  return [...found].map(([, port]) => Number(port))
}
