import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import type { Kysely } from 'kysely'
import { type Logger, pino } from 'pino'
import { type Authority, loadAuthority } from './certificates/authority.ts'
import { createLiveBus, type LiveBus } from './changes/live.ts'
import type { ServerConfig } from './config.ts'
import { type AgentBundle, readAgentBundle } from './core/agent-bundle.ts'
import { type Attempts, createAttempts } from './core/attempts.ts'
import { createDesiredState, type DesiredState } from './core/desired-state.ts'
import { createResolver, type Resolver } from './core/dns-check.ts'
import { createEdgeHub, type EdgeHub } from './core/edges.ts'
import { createFeeds, type Feeds } from './core/feeds.ts'
import { createGate, type Gate } from './core/gate.ts'
import { createLiveFigures, type LiveFigures } from './core/live.ts'
import { createLoginLimits, type LoginLimits } from './core/login-limits.ts'
import { createLogHub, type LogHub } from './core/logs.ts'
import { createSecrets, readSecretKey, type Secrets } from './core/secrets.ts'
import { loadTunnel, type Tunnel } from './core/tunnel.ts'
import { openDatabase, openLiveDatabase } from './db/open.ts'
import type { Database } from './db/schema.ts'
import { type MachineNetwork, observeNetwork } from './network.ts'

/** The world outside, given as arguments so that a test can be its own. */
export interface World {
  /** ms since the epoch. */
  clock(): number
  randomBytes(count: number): Buffer
  network(): MachineNetwork
  resolver: Resolver
  /** scrypt's N; a power of two. */
  scryptCost: number
}

/** Everything alive in the server, built once. */
export interface Context extends World {
  readonly config: ServerConfig
  readonly log: Logger
  readonly db: Kysely<Database>
  readonly secrets: Secrets
  readonly bus: LiveBus
  readonly live: LiveFigures
  readonly logs: LogHub
  readonly edges: EdgeHub
  readonly feeds: Feeds
  readonly loginLimits: LoginLimits
  /** Keys that nodes registered: each is a change that every edge hears of. */
  readonly keyAttempts: Attempts
  /** Checking a password takes 128 MB and a thread for a third of a second. */
  readonly passwordGate: Gate
  readonly authority: Authority
  readonly tunnel: Tunnel
  readonly desiredState: DesiredState
  readonly agentBundle: AgentBundle | null
  /** Registers what must end with the context; the last one registered ends first. */
  onDispose(end: () => void | Promise<void>): void
  dispose(): Promise<void>
}

export const realWorld: World = {
  clock: () => Date.now(),
  randomBytes,
  network: observeNetwork,
  resolver: createResolver(),
  scryptCost: 2 ** 17,
}

/**
 * Opens the databases below the data directory and builds what lives on them, in order.
 * @throws SecretsError, DatabaseError, DatabaseTooNewError, or the system's error for a directory that is not there.
 */
export async function buildContext(config: ServerConfig, log: Logger, world: World): Promise<Context> {
  const ends: (() => void | Promise<void>)[] = []
  const dispose = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
  }
  try {
    mkdirSync(config.paths.serverDir, { recursive: true, mode: 0o700 })
    const { database, secretKey } = config.paths
    const db = openDatabase(database, !existsSync(secretKey))
    ends.push(() => db.destroy())
    // The installation's own secrets are in the settings before anything else is sealed.
    const isSealed = (await db.selectFrom('settings').select('key').limit(1).execute()).length > 0
    const secrets = createSecrets(readSecretKey(secretKey, isSealed))
    const liveDb = openLiveDatabase(config.paths.liveDatabase)
    ends.push(() => liveDb.destroy())
    const bus = createLiveBus((err) => log.error({ err }, 'a listener failed'))
    const live = await createLiveFigures({ liveDb, bus, log, ...world })
    ends.push(() => live.dispose())
    const tunnel = await loadTunnel({ db, secrets, config, ...world })
    const logs = createLogHub(() => new Date(world.clock()))
    return {
      ...world,
      config,
      log,
      db,
      secrets,
      bus,
      live,
      logs,
      edges: createEdgeHub({ db, bus, live, logs, log, ...world }),
      feeds: createFeeds(bus, (err) => log.error({ err }, 'a stream could not be computed')),
      loginLimits: createLoginLimits(world.clock),
      keyAttempts: createAttempts(world.clock),
      passwordGate: createGate(2, 50),
      authority: await loadAuthority({ db, secrets, ...world }),
      tunnel,
      desiredState: createDesiredState({ db, secrets, tunnel, publicHost: config.publicHost }),
      agentBundle: readAgentBundle(config.rootDir),
      onDispose: (end) => void ends.push(end),
      dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Lines of JSON; whatever carries a credential is cut out, addresses too: those of streams have a token in them. */
export function createLog(level: string, destination: pino.DestinationStream): Logger {
  const redact = [
    'authorization',
    'cookie',
    'path',
    'url',
    '*.url',
    '*.authorization',
    '*.cookie',
    '*.headers.authorization',
    '*.headers.cookie',
  ]
  return pino({ level, base: null, redact }, destination)
}
