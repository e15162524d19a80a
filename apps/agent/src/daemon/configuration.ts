import type { AgentConfig } from '@postern/contract/agent'
import { createBackoff } from '@postern/host/backoff'
import { AgentError, messageOf } from '../errors.ts'
import type { Outcome } from '../exit-codes.ts'
import { parseWanted, type Wanted } from '../wanted.ts'
import type { ServerClient } from './server-client.ts'

const EVERY = 300_000
const REFUSED_FIRST = 60_000
const REFUSED_LAST = 600_000

export interface ConfigurationOptions {
  client: ServerClient
  publicKey: string
  lastGood: AgentConfig | undefined
  now(): number
  random(): number
  /** Keeps a configuration that could be used. */
  save(config: AgentConfig): Promise<void>
}

/** What the server wants of this node, and how asking it went. */
export interface Configuration {
  wanted: Wanted | undefined
  /** In words, when the server refuses the token. */
  refused: string | null
  /** In words, when the last question was not answered as it should. */
  problem: string | null
  outcome: Outcome
  serverReachable: boolean
}

/** Asks the server when somebody hints, every five minutes, and again with growing pauses when it fails. */
export function createConfigurationReader(options: ConfigurationOptions) {
  const { now, random } = options
  const failed = createBackoff({ first: 1000, most: 60_000, random })
  const refused = createBackoff({ first: REFUSED_FIRST, most: REFUSED_LAST, random })
  const held: Configuration = {
    wanted: options.lastGood && parseWanted(options.lastGood),
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
    held.wanted = parseWanted(config)
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
    // A server that cannot be reached takes nothing back; the last word of the one that answers holds.
    if (code === 'token-refused') held.refused = held.problem
    dueAt = now() + (held.refused ? refused : failed).next()
  }

  return {
    held,
    hint() {
      dueAt = 0
    },
    dueIn: () => Math.max(0, dueAt - now()),
    /** Asks when it is time to. @returns whether it asked. */
    async readWhenDue(): Promise<boolean> {
      if (dueAt > now()) return false
      await read().then(succeed, fail)
      return true
    },
  }
}
export type ConfigurationReader = ReturnType<typeof createConfigurationReader>

/** The server may have lost our key, and gets it again. Another one means that another agent took the node over. */
async function getOwnConfig({ client, publicKey }: ConfigurationOptions): Promise<AgentConfig> {
  const config = await client.getConfig()
  if (config.publicKey === publicKey) return config
  if (config.publicKey === null) return await client.registerKey(publicKey)
  throw new AgentError(
    'server-answer',
    'Another machine or a downloaded configuration uses this node now. Run postern connect here to take it back',
  )
}
