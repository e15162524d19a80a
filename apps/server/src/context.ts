import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { SESSION_KEY_HEADER } from '@postern/contract/auth'
import { type Logger, pino } from 'pino'
import { loadAuthority } from './certificates/authority.ts'
import { createLiveBus } from './changes/live.ts'
import { publicUrl, type ServerConfig } from './config.ts'
import { createAttempts } from './core/accounts/attempts.ts'
import { createGate } from './core/accounts/gate.ts'
import { createLoginLimits } from './core/accounts/login-limits.ts'
import { PASSWORD_COST } from './core/accounts/passwords.ts'
import { createTickets } from './core/accounts/tickets.ts'
import { createDesiredState } from './core/desired-state/desired-state.ts'
import { createProofs } from './core/domains/proofs.ts'
import { createResolver, type Resolver } from './core/domains/resolver.ts'
import { createVisit, type Visit } from './core/domains/visit.ts'
import { createEdgeHub } from './core/edges/edges.ts'
import { createCounts } from './core/figures/counts.ts'
import { createUpkeep } from './core/figures/upkeep.ts'
import { createLogHub } from './core/logs/logs.ts'
import { readAgentFiles } from './core/nodes/agent-files.ts'
import { createAgents } from './core/nodes/agents.ts'
import { createLiveFigures } from './core/nodes/figures.ts'
import { createTokenUses } from './core/nodes/token-uses.ts'
import { openSecrets } from './core/secrets/sealed-rows.ts'
import { createProvider } from './core/sign-in/create-provider.ts'
import { createFlow, redirectUrlOf } from './core/sign-in/flow.ts'
import { createFlowTokens } from './core/sign-in/flow-tokens.ts'
import { loadIdentities } from './core/sign-in/identities.ts'
import { loadSignInKeys } from './core/sign-in/keys.ts'
import { createVisitorSessions } from './core/sign-in/sessions.ts'
import { createTrials } from './core/sign-in/trials.ts'
import { createFeeds } from './core/streams/feeds.ts'
import { createAddressBook } from './core/tunnel/addresses.ts'
import { loadTunnel } from './core/tunnel/tunnel.ts'
import { openDatabase, openLiveDatabase } from './db/open.ts'
import { type MachineNetwork, observeNetwork } from './network.ts'

/** The world outside, given as arguments so that a test can be its own. */
export interface World {
  /** ms since the epoch. */
  clock(): number
  randomBytes(count: number): Buffer
  network(): MachineNetwork
  resolver: Resolver
  visit: Visit
  /** scrypt's N; a power of two. */
  scryptCost: number
}

/** Everything alive in the server, built once. */
export type Context = Readonly<Awaited<ReturnType<typeof buildContext>>>

export const realWorld: World = {
  clock: () => Date.now(),
  randomBytes,
  network: observeNetwork,
  resolver: createResolver(),
  visit: createVisit(),
  scryptCost: PASSWORD_COST,
}

/**
 * Opens the databases below the data directory and builds what lives on them, in order.
 * @throws SecretsError, DatabaseError, DatabaseTooNewError, or the system's error for a directory that is not there.
 */
export async function buildContext(config: ServerConfig, log: Logger, world: World) {
  const ends: (() => void | Promise<void>)[] = []
  const dispose = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
  }
  try {
    mkdirSync(config.paths.serverDir, { recursive: true, mode: 0o700 })
    const { database, secretKey } = config.paths
    const db = openDatabase(database, !existsSync(secretKey), {
      onCopy: (file) => log.info({ file }, 'the database was copied before it is brought up to date'),
    })
    ends.push(() => db.destroy())
    // The installation's own secrets are in the settings before anything else is sealed.
    const isSealed = (await db.selectFrom('settings').select('key').limit(1).execute()).length > 0
    const secrets = await openSecrets(db, secretKey, isSealed)
    const liveDb = openLiveDatabase(config.paths.liveDatabase, (file) =>
      log.warn({ file }, 'figures of a newer version were set aside, and new ones begun'),
    )
    ends.push(() => liveDb.destroy())
    const bus = createLiveBus((err) => log.error({ err }, 'a listener failed'))
    const live = await createLiveFigures({ liveDb, bus, log, ...world })
    ends.push(() => live.dispose())
    const tokenUses = await createTokenUses({ db, liveDb, log, ...world })
    ends.push(() => tokenUses.close())
    const upkeep = createUpkeep({ liveDb, log, ...world })
    ends.push(() => upkeep.close())
    const counts = createCounts({ db, liveDb, log, ...world })
    ends.push(() => counts.close())
    const tunnel = await loadTunnel({ db, secrets, config, ...world })
    const logs = createLogHub(() => new Date(world.clock()))
    const signInKeys = await loadSignInKeys({ db, bus, secrets, ...world })
    const flowTokens = createFlowTokens(world.randomBytes(32), world.clock)
    const identities = await loadIdentities({ db, bus, secrets, ...world }, publicUrl(config))
    const visitorSessions = createVisitorSessions({ signInKeys, identities, ...world })
    const provider = createProvider(config.settings)
    return {
      ...world,
      config,
      log,
      db,
      /** Figures, which may be lost. */
      liveDb,
      secrets,
      bus,
      live,
      agents: createAgents({ bus, tokenUses, clock: world.clock }),
      tokenUses,
      counts,
      logs,
      edges: createEdgeHub({ db, bus, live, counts, logs, log, ...world }),
      feeds: createFeeds(bus, (err) => log.error({ err }, 'a stream could not be computed')),
      loginLimits: createLoginLimits(world.clock),
      tickets: createTickets(world.randomBytes(32), world.clock),
      /** Proofs of domain checks that are under way. */
      proofs: createProofs(world.randomBytes),
      /** Keys that nodes registered: each is a change that goes to every edge. */
      keyAttempts: createAttempts(world.clock),
      /** Sets of services that agents sent, and domains that were looked up for them. */
      publishAttempts: createAttempts(world.clock),
      /** Checking a password takes 128 MB and a thread for a third of a second. */
      passwordGate: createGate(1, 50),
      authority: await loadAuthority({ db, secrets, ...world }),
      tunnel,
      addresses: createAddressBook(tunnel.network4),
      desiredState: createDesiredState({
        db,
        secrets,
        tunnel,
        signInKeys,
        identities,
        publicHost: config.publicHost,
      }),
      agentFiles: readAgentFiles(config.rootDir, publicUrl(config)),
      /** By which sessions of visitors are sealed. */
      signInKeys,
      /** Who signs visitors in; undefined: nobody is set up. */
      provider,
      /** What services can verify of a visitor. */
      identities,
      /** The steps of sign-ins in front of services. */
      flow: createFlow({ ...world, config, db, log, flowTokens, visitorSessions, provider }),
      /** Sign-ins of operators who try the provider out. */
      trials: createTrials({ ...world, flowTokens, provider, redirectUrl: redirectUrlOf({ config }) }),
      /** Registers what must end with the context; the last one registered ends first. */
      onDispose: (end: () => void | Promise<void>) => void ends.push(end),
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
    `*.headers["${SESSION_KEY_HEADER}"]`,
  ]
  return pino({ level, base: null, redact }, destination)
}
