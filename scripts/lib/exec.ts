import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

export type { ChildProcess }

export interface Finished {
  /** -1 when a signal or the time limit ended it. */
  code: number
  stdout: string
  stderr: string
}

/** Runs a program to its end, without a shell. @throws when it cannot be started. */
export function run(
  program: string,
  args: readonly string[],
  timeoutMs = 10_000,
  env?: Record<string, string>,
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const options = { timeout: timeoutMs, maxBuffer: 8 * 1024 * 1024, encoding: 'utf8', env } as const
    execFile(program, [...args], options, (error, stdout, stderr) => {
      if (typeof error?.code === 'string') reject(error)
      else resolve({ code: error ? (error.code ?? -1) : 0, stdout, stderr })
    })
  })
}

/** Runs a program that must succeed. @returns what it printed */
export async function must(...call: Parameters<typeof run>): Promise<string> {
  const [program, args] = call
  const { code, stdout, stderr } = await run(...call)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${(stderr || stdout).trim().slice(0, 300)}`)
  return stdout
}

export interface LaunchOptions {
  env: Record<string, string>
  cwd: string
}

/**
 * Starts one of our programs with a channel for messages and its standard error as a pipe. It is in a group of
 * its own, so that Ctrl-C on the terminal reaches only the starter, which then stops it in order.
 */
export function launch(argv: readonly string[], { env, cwd }: LaunchOptions): ChildProcess {
  const [program = '', ...args] = argv
  return spawn(program, args, { env, cwd, detached: true, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
}

/** Starts a program that waits for the end of its input, and so ends with this one. */
export function launchHolder(argv: readonly string[]): ChildProcess {
  const [program = '', ...args] = argv
  return spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
}

/** Runs a program whose output is for the person at the terminal. @returns its exit code; 1 after the time limit */
export function show(argv: readonly string[], timeoutMs: number): Promise<number> {
  const [program = '', ...args] = argv
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], timeout: timeoutMs })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/** Starts a program of the demonstration, whose output goes to a file; whoever made its namespace ends it. */
export function launchQuietly(argv: readonly string[], logFile: string): void {
  const [program = '', ...args] = argv
  const log = openSync(logFile, 'a', 0o600)
  spawn(program, args, { detached: true, stdio: ['ignore', log, log] }).unref()
  closeSync(log)
}
