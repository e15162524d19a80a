import { Worker } from 'node:worker_threads'
import { MOST_MISSED } from './beats.ts'

/**
 * Checks each second whether the program's event loop has turned since; it counts checks and not time, as the starter
 * does.
 */
const WATCHER = `
const { workerData } = require('node:worker_threads')
const { turns, lookEvery, most } = workerData
let last = -1
let missed = 0
setInterval(() => {
  const now = Atomics.load(turns, 0)
  missed = now === last ? missed + 1 : 0
  last = now
  if (missed >= most) process.kill(process.pid, 'SIGKILL')
}, lookEvery)`

/**
 * A program that systemd runs has no starter that would see it hang, and cannot tell systemd that it does not: that
 * takes a kind of socket that Node lacks. So a second thread ends it, and systemd restarts it.
 */
export function watchSelf(lookEvery = 1000, most = MOST_MISSED): void {
  const turns = new Int32Array(new SharedArrayBuffer(4))
  setInterval(() => void Atomics.add(turns, 0, 1), lookEvery / 2).unref()
  const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 }
  new Worker(WATCHER, {
    eval: true,
    workerData: { turns, lookEvery, most },
    resourceLimits,
    execArgv: [],
  }).unref()
}
