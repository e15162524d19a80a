import { resolve } from 'node:path'
import { endpoints } from '@postern/contract/endpoints/endpoints'
import type { Page } from '@postern/contract/lists'
import { agentPaths } from '../../config.ts'
import { type Api, type Input, openApi } from '../../operator/api.ts'
import { findOwnNode } from '../../operator/own-node.ts'
import { readServers } from '../../operator/servers.ts'
import type { Call, Command, Context } from '../command.ts'
import { readBashLine } from './bash-line.ts'

/** How long the server may take: a person waits for the key to do something. */
const TIMEOUT_MS = 2000
const MOST_NAMES = 100

/** What options and arguments of these names take. */
const KINDS = { service: 'services', node: 'nodes', domain: 'domains', server: 'servers' } as const
type Kind = (typeof KINDS)[keyof typeof KINDS]

/** Whether an option or an argument of this name takes a name of the server's. */
export function takesNames(name: string): boolean {
  return Object.hasOwn(KINDS, name)
}

export interface Asked {
  kind: Kind
  prefix: string
  /** What stands before the name in its word, like `--node=`. */
  before: string
  /** The one that the command line names. */
  server: string | undefined
}

/**
 * Prints the names that may stand where the cursor is, one a line; nothing where anything goes wrong.
 * @param args `bash` and the command line up to the cursor, for names as they must stand there; or `zsh` or `fish` and
 * the words without the program, the last as far as it is typed, for names as they are
 */
export async function complete(
  context: Context,
  [shell, ...args]: readonly string[],
  commands: Readonly<Record<string, Command>>,
): Promise<'ok'> {
  const line = shell === 'bash' ? readBashLine(args[0] ?? '') : undefined
  if (shell === 'bash' && !line) return 'ok'
  const asked = findAsked(commands, line ? line.words.slice(1) : args)
  if (!asked) return 'ok'
  const names = await listNames(context, asked).catch(() => [])
  const usable = names.filter((name) => name.startsWith(asked.prefix) && isUsable(name))
  const some = [...new Set(usable)].slice(0, MOST_NAMES)
  if (some.length > 0)
    context.io.out(some.map((name) => (line ? line.replace(asked.before + name) : name)).join('\n'))
  return 'ok'
}

/** One that looks like an option would be taken for one. Names have no control characters; a server that is none of ours might. */
function isUsable(name: string): boolean {
  return !name.startsWith('-') && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)
}

/** Which names the last of these words may be. */
export function findAsked(
  commands: Readonly<Record<string, Command>>,
  words: readonly string[],
): Asked | undefined {
  const [verb = '', ...rest] = words
  const command = Object.hasOwn(commands, verb) ? commands[verb] : undefined
  const last = rest.pop()
  if (!command || last === undefined) return undefined
  const { open, server, given } = readWords(command, rest)
  if (open !== undefined) return askedFor(open, last, '', server)
  const [, before = '', option = '', value = ''] = /^(--([\w-]+)=)(.*)$/s.exec(last) ?? []
  if (before !== '')
    return command.valued.includes(option) ? askedFor(option, value, before, server) : undefined
  return last.startsWith('-') ? undefined : askedFor(command.argument[given] ?? '', last, '', server)
}

/** What stands before the word that is typed: an option that waits for its value, and how many arguments. */
function readWords({ valued }: Command, words: readonly string[]) {
  let open: string | undefined
  let server: string | undefined
  let given = 0
  for (const word of words) {
    if (open !== undefined) {
      if (open === 'server') server = word
      open = undefined
      continue
    }
    const [, option = '', value] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? []
    if (option === 'server') server = value
    if (value === undefined && valued.includes(option)) open = option
    if (!word.startsWith('-')) given++
  }
  return { open, server, given }
}

function askedFor(
  name: string,
  prefix: string,
  before: string,
  server: string | undefined,
): Asked | undefined {
  // Checked to be one of them.
  return Object.hasOwn(KINDS, name)
    ? { kind: KINDS[name as keyof typeof KINDS], prefix, before, server }
    : undefined
}

async function listNames(context: Context, { kind, prefix, server }: Asked): Promise<string[]> {
  const paths = agentPaths(resolve(context.environment.configDir))
  const call: Call = { context, paths, json: false }
  if (kind === 'servers') return Object.keys((await readServers(call)).servers)
  const own = kind === 'services' ? await findOwnNode(call, server) : undefined
  if (own) return (await own.list()).map(({ name }) => name)
  const query = { search: prefix || undefined, limit: MOST_NAMES, page: 1 }
  return await LISTS[kind](await openApi(call, server), { query, timeoutMs: TIMEOUT_MS })
}

const LISTS = {
  services: async (api: Api, input: Input) =>
    rowsOf(await api.call(endpoints.listAllServices, input)).map(({ name }) => name),
  nodes: async (api: Api, input: Input) =>
    rowsOf(await api.call(endpoints.listNodes, input)).map(({ name }) => name),
  domains: async (api: Api, input: Input) =>
    rowsOf(await api.call(endpoints.listDomains, input)).map(({ domain }) => domain),
}

const rowsOf = <T>(page: T[] | Page<T>): T[] => (Array.isArray(page) ? page : page.data)
