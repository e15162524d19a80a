import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { HAPROXY_BIN } from '../haproxy-place.mjs'

export interface RunOptions {
  input?: string
  /** Default 10 s. */
  timeoutMs?: number
  /** Bytes of each output stream; more ends the program. Default 8 MB. */
  maxOutput?: number
  /** Its whole environment; by default only the path on which programs are found. */
  env?: Record<string, string>
  /** For a program that goes to the background: its streams are not ours, or we would wait for them forever. */
  background?: boolean
}

export interface RunResult {
  code: number
  stdout: string
  stderr: string
}

export interface DetachedOptions {
  stdoutFile: string
  stderrFile: string
  /** The name of its systemd scope, where systemd runs; absent: the scope of its starter. */
  unit?: string
}

export interface StreamOptions {
  onLine: (line: string) => void
  /** Called once, with the reason when the program cannot be started. */
  onExit: (error?: Error) => void
}

/** The only door to other programs. Every call is an argv, never a shell; our own environment stays ours. */
export interface Exec {
  /** @throws ProgramMissingError, ExecTimeoutError, ExecOutputError; a non-zero exit is a result, not an error. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<RunResult>
  /**
   * Starts a program that outlives this one and its terminal and, with `unit`, its systemd unit.
   * @returns its pid.
   */
  startDetached(program: string, args: readonly string[], options: DetachedOptions): Promise<number>
  /** A long-running program whose output (both streams) is read line by line, until `stop`. */
  stream(program: string, args: readonly string[], options: StreamOptions): { stop(): void }
  /** A small file as the programs see it, like one of /proc/sys. @returns undefined when it cannot be read */
  readFile(path: string): Promise<string | undefined>
}

export class ProgramMissingError extends Error {
  readonly code = 'program_missing'
  readonly program: string
  constructor(program: string) {
    super(`${program} is not installed`)
    this.program = program
  }
}

export class ExecTimeoutError extends Error {
  readonly code = 'exec_timeout'
}

class ExecOutputError extends Error {
  readonly code = 'exec_output'
}

/** Where a system's tools are, which a user's own path may lack; our HAProxy goes before an older one. */
export const SYSTEM_PATH = `${HAPROXY_BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`
const MAX_OUTPUT = 8 * 1024 * 1024
const PATIENCE = 10_000

/**
 * @param prefix argv put before each program, like `ip netns exec NAME`.
 * @param path where programs are looked for
 */
export function createExec(prefix: readonly string[] = [], path = SYSTEM_PATH): Exec {
  // None of our own environment, which may hold secrets; messages in English.
  const env = { PATH: path, LC_ALL: 'C' }
  const argv = (program: string, args: readonly string[]): Argv => {
    const [first = program, ...rest] = [...prefix, program, ...args]
    return { program: first, args: rest, env }
  }
  return {
    run: (program, args, options = {}) => runArgv(argv(program, args), program, options),
    startDetached: (program, args, options) => startDetached(argv(program, args), options),
    stream: (program, args, options) => stream(argv(program, args), options),
    readFile: (path) => (prefix.length > 0 ? readElsewhere(argv('cat', [path])) : readHere(path)),
  }
}

function readHere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

/** What /proc/sys holds depends on the network namespace of the reader. */
async function readElsewhere(cat: Argv): Promise<string | undefined> {
  const { code, stdout } = await runArgv(cat, 'cat', {})
  return code === 0 ? stdout : undefined
}

/** Runs a program of this machine to its end. @throws as `Exec.run` does */
export const { run } = createExec()

/** Runs a program that must succeed. @returns what it printed */
export async function must(...call: Parameters<typeof run>): Promise<string> {
  const [program, args] = call
  const { code, stdout, stderr } = await run(...call)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${(stderr || stdout).trim().slice(0, 300)}`)
  return stdout
}

interface Argv {
  program: string
  args: string[]
  env: Record<string, string>
}

function runArgv(argv: Argv, name: string, options: RunOptions): Promise<RunResult> {
  const { background = false, timeoutMs = PATIENCE, env = argv.env } = options
  const stdio = background ? 'ignore' : 'pipe'
  const child = spawn(argv.program, argv.args, { cwd: '/', env, stdio })
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      child.kill('SIGKILL')
      reject(error)
    }
    const stdout = collect(child, 'stdout', options.maxOutput, name, fail)
    const stderr = collect(child, 'stderr', options.maxOutput, name, fail)
    const timer = setTimeout(
      () => fail(new ExecTimeoutError(`${name} did not end within ${timeoutMs} ms`)),
      timeoutMs,
    )
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(startError(argv.program, error))
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code: code ?? -1, stdout: stdout(), stderr: stderr() })
    })
    // A program that ends without reading its input breaks the pipe; its exit code says more than EPIPE.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(options.input ?? '')
  })
}

function collect(
  child: ChildProcess,
  stream: 'stdout' | 'stderr',
  max = MAX_OUTPUT,
  name: string,
  fail: (error: Error) => void,
): () => string {
  const chunks: Buffer[] = []
  let size = 0
  child[stream]?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= max) chunks.push(chunk)
    else fail(new ExecOutputError(`${name} wrote more than ${max} bytes`))
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

async function startDetached(inner: Argv, options: DetachedOptions): Promise<number> {
  const { unit } = options
  const argv = unit !== undefined && existsSync('/run/systemd/system') ? inScope(inner, unit) : inner
  const stdout = openSync(options.stdoutFile, 'a', 0o600)
  const stderr = openSync(options.stderrFile, 'a', 0o600)
  try {
    const child = spawn(argv.program, argv.args, {
      detached: true,
      cwd: '/',
      env: argv.env,
      stdio: ['ignore', stdout, stderr],
    })
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('spawn', () => resolve(child.pid ?? -1))
      child.once('error', (error) => reject(startError(argv.program, error)))
    })
    child.unref()
    return pid
  } finally {
    closeSync(stdout)
    closeSync(stderr)
  }
}

/** `systemd-run --scope` becomes the program, so the pid stays; the scope keeps it out of the edge's unit. */
function inScope({ program, args, env }: Argv, unit: string): Argv {
  const scope = ['--scope', '--quiet', '--collect', `--unit=${unit}`, '--']
  return { program: 'systemd-run', args: [...scope, program, ...args], env }
}

function stream(argv: Argv, options: StreamOptions): { stop(): void } {
  const child = spawn(argv.program, argv.args, { cwd: '/', env: argv.env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', options.onLine)
  let ended = false
  const end = (error?: Error) => {
    if (ended) return
    ended = true
    options.onExit(error)
  }
  child.once('error', (error) => end(startError(argv.program, error)))
  child.once('close', () => end())
  return { stop: () => void child.kill('SIGTERM') }
}

function startError(program: string, error: NodeJS.ErrnoException): Error {
  return error.code === 'ENOENT' ? new ProgramMissingError(program) : error
}

export type { ChildProcess }

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

/** Starts a program that waits for the end of its input, and so ends with this one. Its standard error is a pipe. */
export function launchHolder(argv: readonly string[]): ChildProcess {
  const [program = '', ...args] = argv
  return spawn(program, args, { stdio: ['pipe', 'ignore', 'pipe'], detached: true })
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
