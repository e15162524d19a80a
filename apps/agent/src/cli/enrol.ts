import { setTimeout as pause } from 'node:timers/promises'
import { createBackoff } from '@postern/host/backoff'
import { AgentError } from '../errors.ts'
import type { Log } from '../io.ts'
import {
  type Credentials,
  type DaemonStatus,
  findCredentials,
  writeCredentials,
  writeDaemonStatus,
  writeLastGood,
} from '../store.ts'
import type { Call, Context } from './command.ts'
import { parseConnectOptions } from './connect-options.ts'
import { register, settleCredentials, withTunnel } from './credentials.ts'

/** A rejected token stays rejected until a person acts. */
const REFUSED = { first: 60_000, most: 600_000 }
const FAILED = { first: 1000, most: 60_000 }

/**
 * The credentials to run with: the stored ones or, with POSTERN_URL, as in a container, those in the environment.
 * They are registered once; it tries until the server answers.
 * @returns undefined when it was stopped meanwhile
 */
export async function enrol({ context, paths }: Call, log: Log): Promise<Credentials | undefined> {
  const { random, signal } = context
  const failed = createBackoff({ ...FAILED, random })
  const refused = createBackoff({ ...REFUSED, random })
  let lastProblem = ''
  while (!signal.aborted) {
    try {
      return await settle({ context, paths })
    } catch (error) {
      // This does not go away by waiting.
      if (!(error instanceof AgentError) || error.code === 'usage' || error.code === 'not-connected')
        throw error
      if (error.message !== lastProblem) log(`cannot connect: ${error.message}`)
      lastProblem = error.message
      await writeDaemonStatus(paths, statusOf(context, error))
      const wait = (error.code === 'token-refused' ? refused : failed).next()
      await pause(wait, undefined, { signal }).catch(() => undefined)
    }
  }
  return undefined
}

async function settle({ context, paths }: Pick<Call, 'context' | 'paths'>): Promise<Credentials> {
  const stored = await findCredentials(paths)
  const options = parseConnectOptions({}, context)
  if (!options.url && !stored)
    throw new AgentError(
      'not-connected',
      `Nothing is stored in ${paths.configDir}. Run postern connect first, or set POSTERN_URL and POSTERN_TOKEN`,
    )
  if (!options.url && stored) return stored
  const asked = await settleCredentials(context, options, stored)
  if (JSON.stringify(asked) === JSON.stringify(stored)) return asked
  const config = await register(context.exec, asked, stored)
  const credentials = withTunnel(asked, config)
  // Last, because with it the node counts as registered.
  await writeLastGood(paths, config)
  await writeCredentials(paths, credentials)
  return credentials
}

function statusOf({ version }: Context, { code, message }: AgentError): DaemonStatus {
  return {
    version,
    state: code === 'token-refused' ? 'refused' : 'failed',
    outcome: code,
    problem: message,
    notes: [],
    node: null,
    addresses: [],
    edgeAddress: null,
    serverReachable: code !== 'server-unreachable' && code !== 'certificate',
  }
}
