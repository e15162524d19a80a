import { readdir, rm, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { codeOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/processes/exec'
import { kill } from '@postern/host/processes/processes'
import { isAnswered } from '@postern/host/socket'
import { createSingleFlight } from '@postern/host/tasks'
import type { HaproxyPaths } from '@postern/render/haproxy/options'
import type { Read } from '../../../counts/reading.ts'
import { readCounts } from '../runtime/counts.ts'
import { type HaproxySocket, HaproxySocketError, openHaproxySocket } from '../runtime/socket.ts'
import { listOwnAmong } from './running.ts'

/**
 * Processes that have handed over and only finish their connections. Each answers at a socket named after its pid
 * while our `holder.ts` keeps a connection to it; none ends before its counters were read.
 */
export interface Draining {
  /**
   * Call it before asking the process to hand over. Without a holder it hands over all the same, but its later
   * traffic is not counted.
   */
  hold(pid: number): Promise<void>
  /** Undoes `enter`: it has not handed over. */
  release(pid: number): Promise<void>
  reads(): Promise<Read[]>
  /**
   * Ends the connections of all of them and reads their counters for the last time.
   * @param running the one that has not handed over
   */
  dismiss(running?: number): Promise<void>
  /**
   * The same for the oldest while there are too many.
   * @returns the processes, which may now be ended
   */
  thin(): Promise<number[]>
  /** Those that run without a holder. */
  listUncounted(): Promise<number[]>
  /** Leaves them to the next edge. */
  close(): void
}

interface DrainingOptions {
  exec: Exec
  paths: HaproxyPaths
  /** The base of the name of a holder's systemd scope. */
  unit: string
  /** Resolves when the counters are on disk. */
  countLast(read: Read): Promise<void>
  warn(message: string): void
}

interface DrainingProcess {
  pid: number
  path: string
  socket: HaproxySocket
  /** When it was asked to hand over, in ms since the epoch. */
  since: number
}

/** How many may finish their connections at the same time. */
export const MOST_DRAINING = 4
const CHECK_INTERVAL = 1000
const HOLDER_PATIENCE = 5000
const NO_HOLDER =
  'HAProxy hands over, and nothing reads its counters any more, because holder.mjs did not start within 5 s'
/** Sooner than HAProxy ends by itself, uncounted. */
const LONGEST = 14 * 60_000
const ROUNDS = 25
const ROUND_MS = 20

/** A file beside this one, and beside the bundle. */
const HOLDER = fileURLToPath(
  new URL(import.meta.url.endsWith('.mjs') ? './holder.mjs' : './holder.ts', import.meta.url),
)

export function createDraining({ exec, paths, unit, countLast, warn }: DrainingOptions): Draining {
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let held = 0
  const uncounted = new Set<number>()
  const readOf = (each: DrainingProcess) => () => readCounts(each.socket.send)
  const end = async (each: DrainingProcess) => {
    await endConnections(each.socket)
    await countLast(readOf(each))
    await letGo(each)
  }
  const look = async () => {
    const draining = await listDraining(paths)
    if (draining.length === 0) stopLooking()
    for (const each of draining) {
      const info = (await findInfo(each)) ?? ''
      const isOld = Date.now() - each.since > LONGEST
      const hasLeft = /^Stopping: 1$/m.test(info)
      // One of them is its holder's.
      if (hasLeft && (isOld || /^Jobs: [01]$/m.test(info))) await end(each)
      else if (isOld) await letGo(each)
    }
  }
  const looking = createSingleFlight(() => look().catch(ignoreSilence))
  const keepLooking = () => {
    if (!isClosed) timer ??= setInterval(looking.trigger, CHECK_INTERVAL).unref()
  }
  const stopLooking = () => {
    clearInterval(timer)
    timer = undefined
  }
  const release = async (pid: number) => {
    uncounted.delete(pid)
    for (const each of await listDraining(paths)) if (each.pid === pid) await letGo(each)
  }
  return {
    async hold(pid) {
      const path = paths.drainingSocket(pid)
      await release(pid)
      if (await startHolder(exec, paths, path, `${unit}-holder-${process.pid}-${++held}`)) return
      uncounted.add(pid)
      warn(NO_HOLDER)
      await countLast(() => readCounts(openHaproxySocket(paths.socket).send))
    },
    release,
    async reads() {
      const draining = await listDraining(paths)
      if (draining.length > 0) keepLooking()
      return draining.map(readOf)
    },
    async dismiss(running) {
      const draining = await listDraining(paths)
      await Promise.all(draining.filter(({ pid }) => pid !== running).map(end))
    },
    async thin() {
      keepLooking()
      const old = (await listDraining(paths)).slice(MOST_DRAINING)
      await Promise.all(old.map(end))
      return old.map(({ pid }) => pid)
    },
    async listUncounted() {
      const left = await listOwnAmong([...uncounted], paths.config)
      for (const pid of uncounted) if (!left.includes(pid)) uncounted.delete(pid)
      return left
    },
    close() {
      isClosed = true
      stopLooking()
    },
  }
}

/** @returns whether it holds a connection, and answers at `path` */
async function startHolder(exec: Exec, paths: HaproxyPaths, path: string, unit: string): Promise<boolean> {
  const argv = ['--disable-sigusr1', HOLDER, paths.socket, path]
  const streams = { stdoutFile: '/dev/null', stderrFile: '/dev/null' }
  const holder = await exec.startDetached(process.execPath, argv, { ...streams, unit })
  const deadline = Date.now() + HOLDER_PATIENCE
  while (Date.now() < deadline) {
    if (await isAnswered(path)) return true
    await delay(10)
  }
  // A late holder would connect to the next HAProxy instead of the older one.
  kill(holder, 'SIGKILL')
  await rm(path, { force: true })
  return false
}

/** Newest first. */
async function listDraining(paths: HaproxyPaths): Promise<DrainingProcess[]> {
  const names = await readdir(paths.draining).catch(orAbsent<string[]>([]))
  const draining: DrainingProcess[] = []
  for (const name of names) {
    const pid = Number.parseInt(name, 10)
    const path = paths.drainingSocket(pid)
    const since = await stat(path).then(({ mtimeMs }) => mtimeMs, orAbsent(undefined))
    if (since !== undefined) draining.push({ pid, path, since, socket: openHaproxySocket(path) })
  }
  return draining.sort((a, b) => b.since - a.since)
}

/** The pid in a path whose socket is gone. */
function orAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (codeOf(error) !== 'ENOENT') throw error
    return value
  }
}

async function findInfo(each: DrainingProcess): Promise<string | undefined> {
  const info = await each.socket.send('show info').catch(ignoreSilence)
  // Its holder is gone.
  if (info === undefined && !(await isAnswered(each.path))) await rm(each.path, { force: true })
  return info
}

/** Its counters are complete only after its connections have ended: those of an open one lag behind. */
async function endConnections(socket: HaproxySocket): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) await delay(ROUND_MS)
    const sessions = (await socket.send('show sess').catch(ignoreSilence)) ?? ''
    const open = [...sessions.matchAll(/^(0x[0-9a-f]+): (?!.* fe=GLOBAL )/gm)]
    if (open.length === 0) return
    await socket.sendAll(open.map(([, handle]) => `shutdown session ${handle}`)).catch(ignoreSilence)
  }
}

async function letGo({ socket, path }: DrainingProcess): Promise<void> {
  await socket.send('quit').catch(ignoreSilence)
  await rm(path, { force: true })
}

/** It has ended in between. */
function ignoreSilence(error: unknown): undefined {
  if (!(error instanceof HaproxySocketError)) throw error
}
