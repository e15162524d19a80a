import { join } from 'node:path'
import { DataPlane } from '@postern/contract/edge/edge'
import { CommandError, printable, runArgv } from '../command.ts'
import { environmentOf, ROOT } from '../environment.ts'
import type { Installation } from '../installation.ts'
import { Program } from './program.ts'
import type { ProgramView } from './program-view.ts'

/** Built by `apps/<name>/build.ts`. The bundles start faster than the sources, and need a third less memory. */
const BUNDLE = { server: 'apps/server/dist/server.mjs', edge: 'apps/edge/dist/edge.mjs' } as const

/** A program that crashes must not leave its secrets on disk. HAProxy and the tunnel inherit this from the edge. */
const WITHOUT_CORE = ['prlimit', '--core=0:0', '--']

export type Say = (text: string) => void

/**
 * Starts the server, as its own user when there is one.
 * @param prepare creates what it needs, before each restart
 */
export function startServer(
  installation: Installation,
  view: ProgramView,
  warn: Say,
  prepare?: () => Promise<void>,
): Program {
  return startOne('server', installation, [...view.enter, ...nodeArgv(view.root, 'server')], warn, prepare)
}

/** Starts the edge, as root. */
export function startEdge(installation: Installation, warn: Say): Program {
  const argv = ['setpriv', '--pdeathsig=TERM', '--', ...nodeArgv(ROOT, 'edge')]
  return startOne('edge', installation, argv, warn)
}

/** The argv that runs a built program. */
export function nodeArgv(root: string, program: 'server' | 'edge'): string[] {
  // SIGUSR1 would open a debugger, which can read every secret of the process. Decision 0026 explains the sizes.
  const flags = ['--disable-sigusr1', `--max-semi-space-size=${program === 'edge' ? 8 : 2}`]
  return [join(root, 'node_modules/.bin/node'), ...flags, join(root, BUNDLE[program])]
}

function startOne(
  name: 'server' | 'edge',
  installation: Installation,
  argv: string[],
  warn: Say,
  prepare?: () => Promise<void>,
): Program {
  const { environment, machine } = installation
  return new Program({
    name,
    prepare,
    argv: machine.isLinux ? [...WITHOUT_CORE, ...argv] : argv,
    cwd: '/',
    env: environmentOf(name, environment, machine),
    onLine(line) {
      const text = formatLogLine(name, line)
      if (text) warn(`${text}\n`)
    },
    onRestart: (_, how, delay) =>
      warn(`postern: the ${name} ended (${how}); it starts again in ${delay / 1000} s\n`),
  })
}

/** Ends an installation's HAProxy, tunnel and firewall table by running the edge's command for it. */
export async function takeTrafficDown(environment: Record<string, string>): Promise<void> {
  const argv = [...nodeArgv(ROOT, 'edge'), '--down']
  const { code, stderr } = await runArgv(argv, { timeoutMs: 30_000, env: environment })
  if (code !== 0) throw new CommandError(`could not end the traffic: ${stderr.trim()}`)
}

/** What the server reports once it listens. `generatedAdmin`: only when it has just generated the password. */
export interface ServerReady {
  /** Where people reach the console, as its settings have it. */
  publicUrl: string
  generatedAdmin?: { username: string; password: string }
}

export function parseServerReady(message: unknown): ServerReady {
  const publicUrl = String(fieldOf(message, 'publicUrl'))
  const admin = fieldOf(message, 'generatedAdmin')
  const username = fieldOf(admin, 'username')
  const password = fieldOf(admin, 'password')
  if (typeof username !== 'string' || typeof password !== 'string') return { publicUrl }
  return { publicUrl, generatedAdmin: { username, password } }
}

/** The data plane as the edge's first message describes it; null: the server has not sent anything to apply yet. */
export function parseEdgeReady(message: unknown): DataPlane | null {
  const dataPlane = fieldOf(message, 'dataPlane')
  return dataPlane === null ? null : DataPlane.parse(dataPlane)
}

function fieldOf(value: unknown, key: string): unknown {
  // A record of unknowns: each field is checked before it is used.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

const WARN = 40
const LEVELS: Record<number, string> = { 40: 'warning', 50: 'error', 60: 'error' }

/**
 * A log line of a program, for a person at a terminal: warnings and errors as text, other records not at all, and
 * anything else unchanged.
 */
export function formatLogLine(name: string, line: string): string | undefined {
  const record = parseRecord(line)
  if (!record) return line === '' ? undefined : printable(line)
  if (record.level < WARN) return undefined
  const reason = record.err?.message ?? record.err?.code
  const words = [record.msg, reason !== record.msg ? reason : undefined].filter(Boolean).join(': ')
  return printable(`${name}: ${LEVELS[record.level] ?? 'warning'}: ${words}`)
}

interface LogRecord {
  level: number
  msg?: string
  err?: { message?: string; code?: string }
}

function parseRecord(line: string): LogRecord | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    const isRecord =
      typeof value === 'object' && value !== null && 'level' in value && typeof value.level === 'number'
    // Our own logger wrote it; its other fields are only ever shown.
    return isRecord ? (value as LogRecord) : undefined
  } catch {
    // A line that only looks like a record is shown unchanged.
    return undefined
  }
}
