import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ROOT } from './step.mjs'

/**
 * Runs a program of the repository with our Node and returns its exit code. Passes signals on to it.
 * `more` is added to its environment.
 */
export function handOver(script, args, more = {}) {
  const bin = join(ROOT, 'node_modules/.bin')
  const child = spawn(join(bin, 'node'), [join(ROOT, script), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...more, PATH: `${bin}:${process.env.PATH ?? ''}:/usr/sbin:/sbin` },
    stdio: 'inherit',
  })
  giveMemoryBack()
  // On a terminal the child gets Ctrl-C itself, as part of the group; a second one would hurry it.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve(signal ? 1 : code))
  })
}

/** From now on this process only waits, perhaps for months, so it frees the memory that hashing the sources took. */
function giveMemoryBack() {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
