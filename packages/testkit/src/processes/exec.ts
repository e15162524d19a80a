import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { HAPROXY_BIN } from '@postern/host/haproxy-place'

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

/** Our HAProxy goes before the machine's own, which may be older. */
const PATH = `${HAPROXY_BIN}:${process.env.PATH ?? ''}`

/** Runs a program to its end. Never a shell; ended after `timeoutMs`. */
export function run(argv: readonly string[], { input = '', timeoutMs = 60_000 } = {}): Promise<Finished> {
  const [program = '', ...args] = argv
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      env: { ...process.env, PATH },
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    )
    // For a program that ends before it has read its input, the exit code counts.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

/** Runs a program that must succeed. @returns its standard output */
export async function must(
  argv: readonly string[],
  options?: { input?: string; timeoutMs?: number },
): Promise<string> {
  const { code, stdout, stderr } = await run(argv, options)
  if (code !== 0) throw new Error(`${argv.join(' ')}: exit code ${code}: ${stderr || stdout}`)
  return stdout
}

export interface Running {
  pid: number
  /** What it has printed so far, both streams. */
  output(): string
  exited: Promise<number | null>
  isRunning(): boolean
  /** Ends it and waits. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

export interface StartOptions {
  logFile: string
  env?: Record<string, string | undefined>
  cwd?: string
}

/** Starts a program that keeps running; its output goes to a file, so that it may outlive a reader. */
export function start(argv: readonly string[], { logFile, env, cwd }: StartOptions): Running {
  const [program = '', ...args] = argv
  const log = openSync(logFile, 'a')
  const child = spawn(program, args, {
    stdio: ['ignore', log, log],
    env: { ...baseEnvironment(), ...env },
    cwd,
  })
  closeSync(log)
  return running(child, logFile)
}

function running(child: ChildProcess, logFile: string): Running {
  const exited = new Promise<number | null>((resolve) => {
    child.on('exit', (code) => resolve(code))
    child.on('error', () => resolve(null))
  })
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return {
    pid: child.pid ?? -1,
    output: () => readFileSync(logFile, 'utf8'),
    exited,
    isRunning,
    async stop(signal = 'SIGTERM') {
      if (isRunning()) child.kill(signal)
      const grace = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await exited
      clearTimeout(grace)
    },
  }
}

/** A test's own settings must not leak into the programs it starts. */
export function baseEnvironment(): Record<string, string | undefined> {
  const { HOME, NODE_COMPILE_CACHE } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE, LANG: 'C.UTF-8' }
}
