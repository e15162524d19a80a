import { existsSync, readFileSync } from 'node:fs'
import { messageOf } from '@postern/host/errors'
import { CommandError, printable, runArgv } from '../command.ts'
import { type Environment, environmentOf, ROOT } from '../environment.ts'
import type { Installation } from '../installation.ts'
import { nodeArgv } from '../programs/programs.ts'

/** How an edge's container joins, at its first start; none of it is a setting of the edge. */
const NAMES = ['POSTERN_JOIN_ADDRESS', 'POSTERN_JOIN_TOKEN', 'POSTERN_JOIN_TOKEN_FILE'] as const

export type Join = Partial<Record<(typeof NAMES)[number], string | undefined>>

/** @returns what is for joining, and the rest */
export function splitJoin(environment: Environment): { join: Join; rest: Environment } {
  const isJoin = ([name]: [string, unknown]) => NAMES.some((own) => own === name)
  const pairs = Object.entries(environment)
  return {
    join: Object.fromEntries(pairs.filter(isJoin)),
    rest: Object.fromEntries(pairs.filter((pair) => !isJoin(pair))),
  }
}

/**
 * Joins with the console's address and token where the container has some, unless it did so before.
 * @param say shows what came of it
 * @throws CommandError when the server or the edge refuses
 */
export async function joinOnce(
  join: Join,
  { environment, machine, paths }: Installation,
  say: (text: string) => void,
): Promise<void> {
  const { POSTERN_JOIN_ADDRESS: address } = join
  if (!address || existsSync(paths.identityDir)) return
  const token = readToken(join)
  const argv = [...nodeArgv(ROOT, 'edge'), 'join', address, token]
  const env = environmentOf('edge', environment, machine)
  const { code, stdout, stderr } = await runArgv(argv, { timeoutMs: 60_000, env })
  if (code !== 0) throw new CommandError(printable(stderr.trim().replace(/^edge: /, '')))
  // There is nothing to start: this container is the edge.
  say(stdout.replace(/^Start it: .*\n/m, ''))
}

function readToken({ POSTERN_JOIN_TOKEN: token, POSTERN_JOIN_TOKEN_FILE: file }: Join): string {
  if (token) return token
  if (!file) throw new CommandError('POSTERN_JOIN_TOKEN is not set: copy the token of the page Edges')
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new CommandError(`POSTERN_JOIN_TOKEN_FILE cannot be read: ${messageOf(error)}`)
  }
}
