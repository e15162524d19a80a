import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { PartState, Problem } from '@postern/contract/edge/edge'
import type { HaproxyVitals } from '@postern/contract/edge/edge-messages'
import { HAPROXY_NEWEST } from '@postern/host/haproxy-place'
import { createQueue } from '@postern/host/tasks'
import { type HaproxyPaths, haproxyPaths } from '@postern/render/haproxy/options'
import type { Read } from '../../counts/reading.ts'
import { createApply } from './apply.ts'
import { createMapFiles } from './files/map-files.ts'
import { createLogListener, type HaproxyLogs } from './logs/listener.ts'
import type { HaproxyDriverOptions, HaproxyWanted } from './options.ts'
import { createConverger, startFromFiles } from './process/converge.ts'
import { createDraining } from './process/draining.ts'
import { createHealth } from './process/health.ts'
import { askForMemory, createMemoryReclaimer } from './process/memory.ts'
import { createHaproxyProcess } from './process/process.ts'
import { createProgram } from './process/program.ts'
import { findProxyUser } from './process/running.ts'
import { readCounts } from './runtime/counts.ts'
import { createHaproxyLookup, type HaproxyLookup } from './runtime/lookup.ts'
import { openHaproxySocket } from './runtime/socket.ts'
import { findHaproxyVitals } from './runtime/vitals.ts'

export interface HaproxyDriver {
  /**
   * Makes HAProxy serve exactly what is wanted, from any state, and reads it back. What it cannot serve is a problem
   * of the service or certificate; `check` tells whether it runs at all. Calls may overlap: they run one after
   * another.
   */
  apply(wanted: HaproxyWanted): Promise<Problem[]>
  /** The last apply left certificates for the next one, which should follow at once. */
  needsAnotherApply(): boolean
  /** Ports of the range that other programs of this machine hold, as the last apply found them. */
  heldPorts(): number[]
  /** The state after the last apply or check. */
  state(): PartState
  /** Whether HAProxy answers; a dead or hanging one is started again from the files. */
  check(): Promise<PartState>
  /** For nodes that are `down`, visitors get our own page. */
  setNodeStates(states: ReadonlyMap<number, 'up' | 'down'>): Promise<void>
  logs: HaproxyLogs
  counts: HaproxyCounts
  /** What runs says itself, and not what should run. */
  lookup: HaproxyLookup
  /** How it is; undefined when none answers. */
  findVitals(): Promise<HaproxyVitals | undefined>
  /** Stops listening for log lines; HAProxy keeps running. */
  close(): Promise<void>
  /** Ends HAProxy and all its connections. */
  stop(): Promise<void>
}

/** The traffic of services, as HAProxy's processes have counted it. */
export interface HaproxyCounts {
  reads(): Promise<Read[]>
  /** Reads a process's counters for the last time before it ends. */
  onLast(countLast: (read: Read) => Promise<void>): void
}

const UNCOUNTED: Problem = {
  scope: { kind: 'edge' },
  message:
    "The remaining traffic of an older HAProxy's connections is not counted: the machine was too busy to start the program that reads it. This ends with these connections, within a quarter of an hour.",
}

/** HAProxy as one part of the data plane. Nothing is touched before the first call. */
export async function createHaproxy(options: HaproxyDriverOptions): Promise<HaproxyDriver> {
  const paths = haproxyPaths(options.directory)
  const socket = openHaproxySocket(paths.socket)
  const mapFiles = createMapFiles(paths)
  let countLast = async (_: Read) => {}
  const unit = options.unit ?? 'postern-haproxy'
  const { exec, warn = () => {} } = options
  const draining = createDraining({ exec, warn, paths, unit, countLast: (read) => countLast(read) })
  const program = createProgram(exec, warn)
  const haproxy = createHaproxyProcess(exec, paths, socket, unit, mapFiles.write, draining, program)
  const user = await findProxyUser()
  const listener = createLogListener(paths, user?.uid ?? process.getuid?.() ?? 0)
  const converger = createConverger(exec, paths, haproxy)
  const { apply, setNodeStates, needsAnotherApply, heldPorts } = createApply({
    options,
    paths,
    socket,
    haproxy,
    program,
    converger,
    listener,
    user,
    mapFiles,
  })
  const health = createHealth(options.newestVersion ?? HAPROXY_NEWEST)
  const memory = createMemoryReclaimer((pid) => askForMemory(pid, paths.config))
  const queue = createQueue()

  async function applyAndTell(wanted: HaproxyWanted): Promise<Problem[]> {
    const problems: Problem[] = []
    try {
      health.succeeded(await apply(wanted, problems))
    } catch (error) {
      health.failed(error)
    }
    if ((await draining.listUncounted()).length > 0) problems.push(UNCOUNTED)
    return problems
  }

  async function check(): Promise<PartState> {
    try {
      const running = await haproxy.findOrEnd()
      if (running) {
        await memory.look(running)
        return health.answered(running)
      }
      const mark = await readMark(paths)
      if (mark === undefined || !health.mayStart()) return health.state()
      return health.succeeded(await startFromFiles(haproxy, paths, mark, undefined))
    } catch (error) {
      return health.failed(error)
    }
  }

  return {
    logs: listener.logs,
    counts: {
      reads: async () => [...(await draining.reads()), () => readCounts(socket.send)],
      onLast(listener) {
        countLast = listener
      },
    },
    lookup: createHaproxyLookup(socket, paths),
    findVitals: () => findHaproxyVitals(socket, paths.config),
    needsAnotherApply,
    heldPorts,
    state: health.state,
    apply: (wanted) => queue.run(() => applyAndTell(wanted)),
    check: async () => (queue.isBusy() ? health.state() : await queue.run(check)),
    setNodeStates: (states) => queue.run(() => setNodeStates(states)),
    async close() {
      draining.close()
      await listener.close()
    },
    stop: () => queue.run(() => haproxy.stop()),
  }
}

/** The mark of the configuration on disk; undefined before the first apply. */
async function readMark(paths: HaproxyPaths): Promise<string | undefined> {
  if (!existsSync(paths.config)) return undefined
  return /^ {2}description (\S+)$/m.exec(await readFile(paths.config, 'utf8'))?.[1]
}
