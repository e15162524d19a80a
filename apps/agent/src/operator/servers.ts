import { homedir } from 'node:os'
import { join } from 'node:path'
import { TOKEN_PREFIXES } from '@postern/contract/tokens'
import * as z from 'zod/mini'
import type { Call, Values } from '../cli/command.ts'
import { findText } from '../cli/command.ts'
import { parseAuthority, parseServerUrl, parseTokenSource, readToken } from '../cli/connect-options.ts'
import { settleAuthority } from '../cli/credentials.ts'
import { AgentError } from '../errors.ts'
import { findJson, isOursAlone, writePrivate } from '../files.ts'

/** A server that a person has signed in to, with the token that it gave or took. */
const Server = z.object({
  url: z.string(),
  token: z.string(),
  /** PEM of the only roots to trust; null: the system's. */
  ca: z.nullable(z.string()),
})
export type Server = z.infer<typeof Server>

const Servers = z.object({
  /** The name of the one that is used where no other is named. */
  current: z.nullable(z.string()),
  servers: z.record(z.string(), Server),
})
export type Servers = z.infer<typeof Servers>

export const SERVER_OPTION = { server: { type: 'string' } } as const

const fileOf = ({ context }: Call) => join(context.environment.userDir, 'servers.json')

/** @throws AgentError when others could have put tokens or roots of theirs there */
export async function readServers(call: Call): Promise<Servers> {
  const { userDir } = call.context.environment
  for (const path of [userDir, fileOf(call)])
    if (!(await isOursAlone(path)))
      throw new AgentError('failed', `${path} must belong to this user and be writable by no other`)
  return (await findJson(fileOf(call), Servers)) ?? { current: null, servers: {} }
}

export function writeServers(call: Call, servers: Servers): Promise<void> {
  return writePrivate(fileOf(call), `${JSON.stringify(servers, null, 2)}\n`)
}

/** The server of a command: the one that it names, that of the environment, or the one signed in to last. */
export async function findServer(call: Call, name: string | undefined): Promise<Server> {
  const given = name === undefined ? await findGiven(call) : undefined
  if (given) return given
  const { current, servers } = await readServers(call)
  const chosen = name ?? current
  const found = chosen === null || !Object.hasOwn(servers, chosen) ? undefined : servers[chosen]
  if (found) return found
  if (name === undefined) throw new AgentError('not-signed-in', 'Sign in first: postern login https://SERVER')
  const others = Object.keys(servers).join(', ') || 'none'
  throw new AgentError('not-signed-in', `${name} is not a server you are signed in to, which are: ${others}`)
}

/** Whether a person has signed in here, or the environment has a person's token. */
export async function hasServer(call: Call): Promise<boolean> {
  return (await readServers(call)).current !== null || (await findGiven(call)) !== undefined
}

/** For programs: the environment names the server and a token of a person. That of a node is for its agent. */
async function findGiven({ context }: Call): Promise<Server | undefined> {
  const { environment } = context
  if (!environment.url || (!environment.token && !environment.tokenFile)) return undefined
  const token = await readToken(context, parseTokenSource({}, environment), undefined)
  if (token.startsWith(TOKEN_PREFIXES.node)) return undefined
  const url = parseServerUrl(environment.url, 'POSTERN_URL')
  const ca = await settleAuthority(url, parseAuthority({}, environment), null)
  return { url: url.origin, token, ca }
}

export function serverNameOf(values: Values): string | undefined {
  return findText(values, 'server')
}

/** Shown to people instead of their home's path. */
export function shortPath(path: string): string {
  const home = homedir()
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}
