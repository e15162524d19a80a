import { readdir, readFile } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** What a process takes of its machine. What may not be looked at is null. */
export interface ProcessVitals {
  /** ms since the epoch. */
  startedAt: number
  /** Since then, of all its threads. */
  cpuSeconds: number
  residentBytes: number
  openFiles: number | null
  mostOpenFiles: number | null
}

/** By how much the event loop is late, in seconds, over the last part of a minute. */
export interface EventLoopDelay {
  median: number
  p99: number
  most: number
}

/** This process's own. */
export async function readOwnVitals(): Promise<ProcessVitals> {
  const { user, system } = process.cpuUsage()
  return {
    startedAt: Math.round(performance.timeOrigin),
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    ...(await readFiles('self')),
  }
}

/** In which the kernel counts processor time, for every program and processor. */
const TICKS_PER_SECOND = 100

/** Another process's. @returns undefined when it is gone */
export async function findVitalsOf(pid: number): Promise<ProcessVitals | undefined> {
  try {
    // The name, in brackets, may hold anything.
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\)/s, '').trim().split(' ')
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const booted = Number(/^btime (\d+)$/m.exec(await readFile('/proc/stat', 'utf8'))?.[1])
    return {
      startedAt: (booted + Number(fields[19]) / TICKS_PER_SECOND) * 1000,
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
      residentBytes: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024,
      ...(await readFiles(String(pid))),
    }
  } catch {
    // It ended while it was looked at.
    return undefined
  }
}

async function readFiles(process: string): Promise<Pick<ProcessVitals, 'openFiles' | 'mostOpenFiles'>> {
  const names = await readdir(`/proc/${process}/fd`).catch(() => null)
  const limits = await readFile(`/proc/${process}/limits`, 'utf8').catch(() => '')
  const most = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN)
  return { openFiles: names?.length ?? null, mostOpenFiles: Number.isNaN(most) ? null : most }
}

const LOOK_EVERY = 15_000
const RESOLUTION_MS = 10

/** Watches how late the event loop is. What is read is of the last whole look, so that it does not depend on who reads. */
export function watchEventLoop(): { read(): EventLoopDelay; close(): void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let last: EventLoopDelay | undefined
  const look = (): EventLoopDelay => {
    // What it measures is a timer's distance, in ns, and begins at the resolution.
    const late = (value: number) => Math.max(0, value / 1e9 - RESOLUTION_MS / 1000)
    if (histogram.count === 0) return { median: 0, p99: 0, most: 0 }
    return {
      median: late(histogram.percentile(50)),
      p99: late(histogram.percentile(99)),
      most: late(histogram.max),
    }
  }
  const timer = setInterval(() => {
    last = look()
    histogram.reset()
  }, LOOK_EVERY).unref()
  return {
    read: () => last ?? look(),
    close() {
      clearInterval(timer)
      histogram.disable()
    },
  }
}
