import { spawn } from 'node:child_process'

export interface ExecResult {
  /** The exit code; 127 when there is no such program, 124 when it took too long. */
  code: number
  stdout: string
  stderr: string
}

export interface ExecOptions {
  input?: string
  timeoutMs?: number
  /** For programs that go to the background: their streams must not be ours, or we would wait for them for ever. */
  background?: boolean
}

export interface Exec {
  run(program: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>
  /** Starts a program that outlives this one, in a session of its own. `log` is an open file. @returns its pid. */
  startDetached(program: string, args: readonly string[], log: number): number | undefined
}

const MAX_OUTPUT = 4 * 1024 * 1024

/** Programs are found on `path` and started without a shell, with an environment that holds no secret. */
export function createExec(path: string): Exec {
  const env = { PATH: path, LC_ALL: 'C' }
  return {
    run: (program, args, options = {}) => run(program, args, options, env),
    startDetached(program, args, log) {
      const child = spawn(program, args, { env, cwd: '/', detached: true, stdio: ['ignore', log, log] })
      // Whether it runs is seen by its pid file, which the caller waits for.
      child.on('error', () => undefined)
      child.unref()
      return child.pid
    },
  }
}

function run(
  program: string,
  args: readonly string[],
  options: ExecOptions,
  env: Record<string, string>,
): Promise<ExecResult> {
  const { input = '', timeoutMs = 10_000, background = false } = options
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, cwd: '/', stdio: background ? 'ignore' : 'pipe' })
    const stdout = collect(child.stdout)
    const stderr = collect(child.stderr)
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      child.kill('SIGKILL')
    }, timeoutMs)
    child.on('error', (error) => {
      clearTimeout(timer)
      resolve({ code: 127, stdout: '', stderr: error.message })
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      if (timedOut) resolve({ code: 124, stdout: '', stderr: `${program} took too long` })
      else resolve({ code: code ?? 1, stdout: stdout(), stderr: stderr() })
    })
    // A program that ends without reading its input is judged by its exit code.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= MAX_OUTPUT) chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString('utf8')
}
