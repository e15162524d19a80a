import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '@postern/host/errors'
import type { Exec } from '@postern/host/processes/exec'
import { type AgentPaths, agentPaths, type Environment } from '../config.ts'
import { AgentError, type Outcome } from '../errors.ts'
import { isOursAlone } from '../files.ts'
import type { Io } from '../io.ts'

/** Everything outside that a command may use, built once in main.ts. */
export interface Context {
  io: Io
  environment: Environment
  exec: Exec
  version: string
  /** How to start this program again: Node with its options, and the file. */
  self: { program: string; args: readonly string[] }
  /** May change the machine's network settings: root, or in a container a user with NET_ADMIN. */
  isPrivileged: boolean
  now(): number
  /** From 0 up to, not including, 1. */
  random(): number
  /** Aborted by SIGTERM and SIGINT. */
  signal: AbortSignal
}

/** The options as typed: `--name value` or `--name=value`, or flags. */
export type Values = Readonly<Record<string, string | boolean | undefined>>

/** The input of every command besides its own options. */
export interface Call {
  context: Context
  paths: AgentPaths
  json: boolean
}

/** A command has three parts: its options, how to read them, and what it does. */
export interface CommandDefinition<O> {
  summary: string
  help: string
  /** `bare` is the value of an option without one. */
  options: Record<string, { type: 'string' | 'boolean'; bare?: string; short?: string }>
  /** What stands on the command line without a name; `parse` finds each under its name. */
  argument?: string | readonly string[]
  /** @throws AgentError `usage`. */
  parse(values: Values, context: Context): O
  run(call: Call, options: O): Promise<Outcome>
}

export interface Command {
  summary: string
  help: string
  /** The names of its options. */
  options: readonly string[]
  /** Those after which a value stands. */
  valued: readonly string[]
  /** The names of what stands without one. */
  argument: readonly string[]
  execute(context: Context, args: readonly string[]): Promise<Outcome>
}

const COMMON = { json: { type: 'boolean' }, 'config-dir': { type: 'string' } } as const

export function defineCommand<O>(definition: CommandDefinition<O>): Command {
  const { summary, help, options, argument } = definition
  const all: CommandDefinition<O>['options'] = { ...options, ...COMMON }
  return {
    summary,
    help,
    options: Object.keys(all),
    valued: Object.keys(all).filter((name) => all[name]?.type === 'string' && all[name]?.bare === undefined),
    argument: [argument ?? []].flat(),
    async execute(context, args) {
      const values = parseValues(args, all, [argument ?? []].flat())
      const directory = findText(values, 'config-dir') ?? context.environment.configDir
      const paths = agentPaths(resolve(directory))
      return await definition.run(
        { context, paths, json: values.json === true },
        definition.parse(values, context),
      )
    },
  }
}

function parseValues(
  args: readonly string[],
  options: CommandDefinition<unknown>['options'],
  names: readonly string[],
): Values {
  try {
    const allowPositionals = names.length > 0
    const found = parseArgs({ args: fillBare(args, options), options, strict: true, allowPositionals })
    const rest = found.positionals[names.length]
    if (rest !== undefined) throw new TypeError(`Unexpected argument '${rest}'`)
    const named = Object.fromEntries(names.map((name, index) => [name, found.positionals[index]]))
    // Each option is a single text or flag, which is all that Values allows.
    return { ...(found.values as Values), ...named }
  } catch (error) {
    throw new AgentError('usage', messageOf(error))
  }
}

function fillBare(args: readonly string[], options: CommandDefinition<unknown>['options']): string[] {
  return args.map((arg, index) => {
    const bare = arg.startsWith('--') ? options[arg.slice(2)]?.bare : undefined
    const isAlone = args[index + 1]?.startsWith('--') ?? true
    return bare !== undefined && isAlone ? `${arg}=${bare}` : arg
  })
}

/** @returns the text of an option, or undefined when it is absent or empty. */
export function findText(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * The agent trusts the files in its directories, and writes secrets there.
 * @throws AgentError when the caller may not administer, or when anyone else could put files there.
 */
export async function requirePrivilege({ context, paths }: Call): Promise<void> {
  if (!context.isPrivileged)
    throw new AgentError(
      'not-root',
      'Root is required to change network settings: use sudo. In a container, add the capability NET_ADMIN.',
    )
  for (const path of [paths.configDir, paths.runDir])
    if (!(await isOursAlone(path)))
      throw new AgentError('failed', `${path} must belong to this user and be writable by no other`)
}
