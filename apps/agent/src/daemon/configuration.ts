import type { AgentConfig } from '@postern/contract/agent/agent'
import { type Beyond, NOTHING_BEYOND } from '@postern/contract/agent/agent-report'
import { createBackoff } from '@postern/host/backoff'
import { messageOf } from '@postern/host/errors'
import { AgentError, type Outcome } from '../errors.ts'
import type { Judged } from '../policy.ts'
import type { Wanted } from '../wanted.ts'
import type { ServerClient } from './server-client.ts'

const EVERY = 300_000
const REFUSED_FIRST = 60_000
const REFUSED_LAST = 600_000

export interface ConfigurationOptions {
  client: Pick<ServerClient, 'getConfig' | 'registerKey'>
  publicKey: string
  lastGood: AgentConfig | undefined
  now(): number
  random(): number
  /**
   * Checks a configuration, and keeps what the node's policy allows.
   * @throws AgentError
   */
  read(config: AgentConfig): Judged
  /** Stores a usable configuration. */
  save(config: AgentConfig): Promise<void>
}

/** The server's configuration of this node, and the result of the last request. */
export interface Configuration {
  wanted: Wanted | undefined
  /** What the server asks for beyond the node's policy, in words. */
  beyond: string[]
  leftOut: Beyond
  /** In words, when the server rejects the token. */
  refused: string | null
  /** In words, when the last request failed. */
  problem: string | null
  outcome: Outcome
  serverReachable: boolean
}

/** Asks the server on a hint, every five minutes, and with growing pauses after a failure. */
export function createConfigurationReader(options: ConfigurationOptions) {
  const { now, random } = options
  const failed = createBackoff({ first: 1000, most: 60_000, random })
  const refused = createBackoff({ first: REFUSED_FIRST, most: REFUSED_LAST, random })
  const held: Configuration = {
    wanted: undefined,
    beyond: [],
    leftOut: NOTHING_BEYOND,
    ...(options.lastGood && options.read(options.lastGood)),
    refused: null,
    outcome: 'ok',
    problem: null,
    serverReachable: false,
  }
  let savedText = options.lastGood ? JSON.stringify(options.lastGood) : ''
  let dueAt = 0

  async function read(): Promise<void> {
    const config = await getOwnConfig(options)
    const text = JSON.stringify(config)
    if (text === savedText && held.wanted) return
    Object.assign(held, options.read(config))
    await options.save(config)
    savedText = text
  }

  function succeed(): void {
    Object.assign(held, { refused: null, problem: null, outcome: 'ok', serverReachable: true })
    failed.reset()
    refused.reset()
    dueAt = now() + EVERY
  }

  function fail(error: unknown): void {
    const code = error instanceof AgentError ? error.code : 'failed'
    held.outcome = code
    held.problem = messageOf(error)
    held.serverReachable = code !== 'server-unreachable' && code !== 'certificate'
    // An unreachable server revokes nothing: its last configuration stays valid.
    if (code === 'token-refused') held.refused = held.problem
    dueAt = now() + (held.refused ? refused : failed).next()
  }

  return {
    held,
    hint() {
      dueAt = 0
    },
    dueIn: () => Math.max(0, dueAt - now()),
    /**
     * Asks when it is time.
     * @returns whether it asked
     */
    async readWhenDue(): Promise<boolean> {
      if (dueAt > now()) return false
      await read().then(succeed, fail)
      return true
    },
  }
}
export type ConfigurationReader = ReturnType<typeof createConfigurationReader>

/** Registers our key again when the server has none. A different key means that another agent took over the node. */
async function getOwnConfig({ client, publicKey }: ConfigurationOptions): Promise<AgentConfig> {
  const config = await client.getConfig()
  if (config.publicKey === publicKey) return config
  if (config.publicKey === null) return await client.registerKey(publicKey)
  throw new AgentError(
    'server-answer',
    'Another machine, or a downloaded configuration, now uses this node. Run postern connect here to take it back',
  )
}
