import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'

export interface RunOptions {
  input?: string
  timeoutMs: number
  /** Bytes of each output stream; more ends the program. Default 8 MB. */
  maxOutput?: number
}

export interface RunResult {
  code: number
  stdout: string
  stderr: string
}

export interface DetachedOptions {
  stdoutFile: string
  stderrFile: string
  /** The name of the systemd scope it lives in, where systemd runs. */
  unit: string
}

export interface StreamOptions {
  onLine: (line: string) => void
  /** Called once, with the reason when the program cannot be started. */
  onExit: (error?: Error) => void
}

/** The only door to other programs. Every call is an argv, never a shell. */
export interface Exec {
  /** @throws ProgramMissingError, ExecTimeoutError, ExecOutputError; a non-zero exit is a result, not an error. */
  run(program: string, args: readonly string[], options: RunOptions): Promise<RunResult>
  /** Starts a program that outlives this one, its terminal and its systemd unit. @returns its pid. */
  startDetached(program: string, args: readonly string[], options: DetachedOptions): Promise<number>
  /** A long-running program whose output (both streams) is read line by line, until `stop`. */
  stream(program: string, args: readonly string[], options: StreamOptions): { stop(): void }
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

export class ExecOutputError extends Error {
  readonly code = 'exec_output'
}

/** What children see: nothing of our own environment, which may hold secrets; messages in English. */
const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
const MAX_OUTPUT = 8 * 1024 * 1024

/** @param prefix argv put before each program, like `ip netns exec NAME`. */
export function createExec(prefix: readonly string[] = []): Exec {
  const argv = (program: string, args: readonly string[]) => {
    const [first = program, ...rest] = [...prefix, program, ...args]
    return { program: first, args: rest }
  }
  return {
    run: (program, args, options) => run(argv(program, args), program, options),
    startDetached: (program, args, options) => startDetached(argv(program, args), options),
    stream: (program, args, options) => stream(argv(program, args), options),
  }
}

interface Argv {
  program: string
  args: string[]
}

function run(argv: Argv, name: string, options: RunOptions): Promise<RunResult> {
  const child = spawn(argv.program, argv.args, { env: ENVIRONMENT, stdio: ['pipe', 'pipe', 'pipe'] })
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      child.kill('SIGKILL')
      reject(error)
    }
    const stdout = collect(child, 'stdout', options.maxOutput, name, fail)
    const stderr = collect(child, 'stderr', options.maxOutput, name, fail)
    const timer = setTimeout(
      () => fail(new ExecTimeoutError(`${name} did not end within ${options.timeoutMs} ms`)),
      options.timeoutMs,
    )
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(startError(argv.program, error))
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code: code ?? -1, stdout: stdout(), stderr: stderr() })
    })
    // A program that ends without reading its input breaks the pipe; its exit code tells more than EPIPE.
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
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
  const argv = existsSync('/run/systemd/system') ? inScope(inner, options.unit) : inner
  const stdout = openSync(options.stdoutFile, 'a', 0o600)
  const stderr = openSync(options.stderrFile, 'a', 0o600)
  try {
    const child = spawn(argv.program, argv.args, {
      detached: true,
      cwd: '/',
      env: ENVIRONMENT,
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
function inScope(argv: Argv, unit: string): Argv {
  const scope = ['--scope', '--quiet', '--collect', `--unit=${unit}`, '--']
  return { program: 'systemd-run', args: [...scope, argv.program, ...argv.args] }
}

function stream(argv: Argv, options: StreamOptions): { stop(): void } {
  const child = spawn(argv.program, argv.args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] })
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
