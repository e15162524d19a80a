import { spawn } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const LOG = join(ROOT, '.postern', 'bootstrap.log')

/** Why the machine could not be prepared. `message` is one line. */
export class StepError extends Error {
  code = 'bootstrap'
}

export const say = (line) => process.stdout.write(`${line}\n`)

/** The last line of the log that looks like the reason, shortened to one screen line. */
export function reasonIn(log) {
  const lines = log.split('\n').map((line) => line.trim())
  const telling = lines.filter((line) => /\b(error|err!|unable|failed|cannot|could not)\b/i.test(line))
  return (telling.at(-1) ?? lines.filter(Boolean).at(-1) ?? 'no output').slice(0, 200)
}

/**
 * Runs one program with its output in the log file. Resolves to the output when it failed, and to undefined when it
 * succeeded. Ends a program that takes longer than `seconds`; that counts as failed.
 */
export function attempt(program, args, { seconds, env = {}, cwd = ROOT }) {
  mkdirSync(dirname(LOG), { recursive: true })
  const log = openLog()
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', log, log],
    timeout: seconds * 1000,
    killSignal: 'SIGTERM',
  })
  closeSync(log)
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, signal) => {
      if (code === 0) return resolve(undefined)
      resolve(`${readFileSync(LOG, 'utf8')}\n${signal ? reasonOfSignal(signal, seconds) : ''}`)
    })
  })
}

/** Never through a link: another user could use one to make root empty any file. */
function openLog() {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  try {
    return openSync(LOG, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
  } catch (error) {
    throw new StepError(
      `cannot write ${LOG}: ${error.code === 'ELOOP' ? 'it is a link: remove it' : error.message}`,
    )
  }
}

/** We end a program that takes too long by SIGTERM; the kernel takes SIGKILL when memory runs out. */
export function reasonOfSignal(signal, seconds) {
  if (signal === 'SIGTERM') return `failed: it took longer than ${seconds} s`
  if (signal === 'SIGKILL')
    return 'failed: it was killed (SIGKILL), most likely because memory ran out: the build needs 768 MB'
  return `failed: ${signal} ended it`
}

/** Like attempt, but a failure throws an error that says which step failed, why, and where the full log is. */
export async function step(what, program, args, options) {
  const failure = await attempt(program, args, options)
  if (failure !== undefined)
    throw new StepError(`${what} failed: ${reasonIn(failure)} (full log: ${relative(process.cwd(), LOG)})`)
}
