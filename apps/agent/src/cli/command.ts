import { resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Context } from '../context.ts'
import { AgentError, messageOf } from '../errors.ts'
import type { Outcome } from '../exit-codes.ts'
import { isOursAlone } from '../files.ts'
import { type AgentPaths, agentPaths } from '../paths.ts'

/** The options as typed: `--name value` or `--name=value`, and flags. */
export type Values = Readonly<Record<string, string | boolean | undefined>>

/** What every command is told besides its own options. */
export interface Call {
  context: Context
  paths: AgentPaths
  json: boolean
}

/** A command has three parts: its options, what they mean, and what it does. */
export interface CommandDefinition<O> {
  summary: string
  help: string
  options: Record<string, { type: 'string' | 'boolean' }>
  /** @throws AgentError `usage`. */
  parse(values: Values, context: Context): O
  run(call: Call, options: O): Promise<Outcome>
}

export interface Command {
  summary: string
  help: string
  execute(context: Context, args: readonly string[]): Promise<Outcome>
}

const COMMON = { json: { type: 'boolean' }, 'config-dir': { type: 'string' } } as const

export function defineCommand<O>(definition: CommandDefinition<O>): Command {
  const { summary, help, options } = definition
  return {
    summary,
    help,
    async execute(context, args) {
      const values = parseValues(args, { ...options, ...COMMON })
      const directory = findText(values, 'config-dir') ?? context.environment.configDir
      const paths = agentPaths(resolve(directory))
      return await definition.run(
        { context, paths, json: values.json === true },
        definition.parse(values, context),
      )
    },
  }
}

function parseValues(args: readonly string[], options: ParseArgsConfig['options']): Values {
  try {
    // Each option is a single text or flag, which is all that Values allows.
    return parseArgs({ args: [...args], options, strict: true }).values as Values
  } catch (error) {
    throw new AgentError('usage', messageOf(error))
  }
}

/** @returns the text of an option, or undefined when it is absent or empty. */
export function findText(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/**
 * What root reads in the agent's directories it obeys, and what it writes there are secrets.
 * @throws AgentError when the caller is not root, or somebody else could put things there.
 */
export async function requireRoot({ context, paths }: Call): Promise<void> {
  if (!context.isRoot)
    throw new AgentError('not-root', 'Root is required to change network settings. Use sudo.')
  for (const path of [paths.configDir, paths.runDir])
    if (!(await isOursAlone(path)))
      throw new AgentError('failed', `${path} must belong to root, and nobody else may write to it`)
}
