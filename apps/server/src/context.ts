import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { SESSION_KEY_HEADER } from '@postern/contract/sign-in/auth'
import { type Disk, observeDisk } from '@postern/host/disk'
import { type Logger, pino } from 'pino'
import { loadAuthority } from './certificates/authority.ts'
import { createEdgesAuthority } from './certificates/edges-authority.ts'
import { HISTORY_BOUNDS, type HistoryBounds } from './changes/letting-go.ts'
import { createLiveBus } from './changes/live.ts'
import { publicUrl, type ServerConfig } from './config.ts'
import { UNLIMITED } from './core/access/access.ts'
import { createAttempts, HOUR_MS } from './core/accounts/attempts.ts'
import { createConfirmations } from './core/accounts/confirmations.ts'
import { createFactorLimits } from './core/accounts/factors/limits.ts'
import type { StepTokenKind } from './core/accounts/factors/step-tokens.ts'
import { createGate } from './core/accounts/gate.ts'
import { createLoginLimits } from './core/accounts/login-limits.ts'
import { PASSWORD_COST, type PasswordCost } from './core/accounts/passwords.ts'
import { createTickets } from './core/accounts/tickets.ts'
import { OUTSIDE, type Outside } from './core/alerts/deliver/outside.ts'
import { createBackups } from './core/backup/backups.ts'
import { createProviderLogins } from './core/console-sign-in/logins.ts'
import { createDesiredState } from './core/desired-state/desired-state.ts'
import { skipGivenIds } from './core/domains/entry-ids.ts'
import { createProofs } from './core/domains/proofs.ts'
import { createResolver, type Resolver } from './core/domains/resolver.ts'
import { createVisit, type Visit } from './core/domains/visit.ts'
import { createEdgeHub } from './core/edges/edges.ts'
import { createOwnLeaves } from './core/edges/own-leaves.ts'
import { createEdgeFiles } from './core/edges/program/files.ts'
import { createCounts } from './core/figures/counts.ts'
import { takeTotals } from './core/figures/totals.ts'
import { createUpkeep } from './core/figures/upkeep.ts'
import { createLogHub } from './core/logs/logs.ts'
import { readAgentFiles } from './core/nodes/agent-files.ts'
import { createAgents } from './core/nodes/agents.ts'
import { createLiveFigures } from './core/nodes/figures.ts'
import { createTokenUses } from './core/nodes/token-uses.ts'
import { createDevices } from './core/programs/devices.ts'
import { createProgramRates } from './core/programs/rates.ts'
import { openSecrets } from './core/secrets/sealed-rows.ts'
import { loadShortKeys } from './core/secrets/short-keys.ts'
import { loadSettings } from './core/settings/live-settings.ts'
import { createProviders } from './core/sign-in/create-provider.ts'
import { createFlow } from './core/sign-in/flow.ts'
import { createFlowTokens } from './core/sign-in/flow-tokens.ts'
import { loadIdentities } from './core/sign-in/identities.ts'
import { loadSignInKeys } from './core/sign-in/keys.ts'
import { createVisitorSessions } from './core/sign-in/sessions.ts'
import { createTrials } from './core/sign-in/trials.ts'
import { createFeeds } from './core/streams/feeds.ts'
import { createAddressBook } from './core/tunnel/addresses.ts'
import { loadTunnel } from './core/tunnel/tunnel.ts'
import { createWhys } from './core/why/whys.ts'
import { openDatabase, openLiveDatabase } from './db/open.ts'
import { type MachineNetwork, observeNetwork } from './network.ts'

/** The outside world, passed in so that tests can replace it. */
export interface World {
  /** ms since the epoch. */
  clock(): number
  randomBytes(count: number): Buffer
  network(): MachineNetwork
  resolver: Resolver
  visit: Visit
  /** Where alerts are sent. */
  outside: Outside
  disk(directory: string): Promise<Disk | null>
  passwordCost: PasswordCost
  /** How much of the history is kept. */
  historyBounds: HistoryBounds
}

/** Everything alive in the server, built once. */
export type Context = Readonly<Awaited<ReturnType<typeof buildContext>>>

export const realWorld: World = {
  clock: () => Date.now(),
  randomBytes,
  network: observeNetwork,
  resolver: createResolver(),
  visit: createVisit(),
  outside: OUTSIDE,
  disk: observeDisk,
  passwordCost: PASSWORD_COST,
  historyBounds: HISTORY_BOUNDS,
}

/**
 * Opens the databases below the data directory and builds everything on top of them, in order.
 * @throws SecretsError, DatabaseError, DatabaseTooNewError, or the system's error when the directory does not exist
 */
export async function buildContext(given: ServerConfig, log: Logger, world: World) {
  const ends: (() => void | Promise<void>)[] = []
  const dispose = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
  }
  try {
    mkdirSync(given.paths.serverDir, { recursive: true, mode: 0o700 })
    const { database, secretKey } = given.paths
    const db = openDatabase(database, !existsSync(secretKey), {
      onCopy: (file) => log.info({ file }, 'the database was copied before its migration'),
    })
    ends.push(() => db.destroy())
    // The installation's own secrets are in the settings before anything else is sealed.
    const isSealed = (await db.selectFrom('settings').select('key').limit(1).execute()).length > 0
    const secrets = await openSecrets(db, secretKey, isSealed)
    await skipGivenIds(db, world.clock())
    const bus = createLiveBus((err) => log.error({ err }, 'a listener failed'))
    const liveSettings = await loadSettings({ db, secrets, bus, log }, given)
    const { config } = liveSettings
    const liveDb = openLiveDatabase(config.paths.liveDatabase, (file) =>
      log.warn({ file }, 'the figures of a newer version were set aside, and new ones started'),
    )
    ends.push(() => liveDb.destroy())
    const live = await createLiveFigures({ liveDb, bus, log, ...world })
    ends.push(() => live.dispose())
    const usesParts = { db, liveDb, log, ...world }
    const tokenUses = await createTokenUses(usesParts, { tokens: 'node_tokens', uses: 'token_uses' })
    ends.push(() => tokenUses.close())
    const apiTokenUses = await createTokenUses(usesParts, { tokens: 'api_tokens', uses: 'api_token_uses' })
    ends.push(() => apiTokenUses.close())
    const upkeep = createUpkeep({ liveDb, log, ...world })
    ends.push(() => upkeep.close())
    const totals = await takeTotals({ file: config.paths.counters, log, ...world })
    ends.push(() => totals.close())
    const counts = createCounts({ db, liveDb, totals, log, ...world })
    ends.push(() => counts.close())
    const backups = await createBackups({ config, secrets, log, ...world })
    ends.push(() => backups.close())
    const tunnel = await loadTunnel({ db, secrets, config, ...world })
    const logs = createLogHub(() => new Date(world.clock()))
    const signInKeys = await loadSignInKeys({ db, bus, secrets, ...world })
    const shortKeys = await loadShortKeys({ db, secrets, log, ...world })
    ends.push(() => shortKeys.close())
    const flowTokens = createFlowTokens(shortKeys.of('visitor sign-in'), world.clock)
    const identities = await loadIdentities({ db, bus, secrets, ...world }, () => publicUrl(config))
    const visitorSessions = createVisitorSessions({ signInKeys, identities, ...world })
    const providers = createProviders(config)
    const authority = await loadAuthority({ db, secrets, ...world })
    const ownLeaves = createOwnLeaves({ authority, ...world })
    return {
      ...world,
      config,
      /** What whoever asks may do, and with what: `http/access.ts` narrows it, and `db`, for a limited person. */
      access: UNLIMITED,
      /** What people set in the console; in force by `config`. */
      liveSettings,
      log,
      db,
      /** The database of figures, which may be lost. */
      liveDb,
      secrets,
      bus,
      live,
      agents: createAgents({ bus, tokenUses, clock: world.clock }),
      tokenUses,
      apiTokenUses,
      backups,
      counts,
      totals,
      logs,
      edges: createEdgeHub({ db, bus, live, counts, logs, log, version: config.version, ...world }),
      feeds: createFeeds(bus, (err) => log.error({ err }, 'a stream could not be computed')),
      loginLimits: createLoginLimits(world.clock),
      /** People's way to a provider and back to the console, */
      providerLogins: createProviderLogins({
        ...{ ...world, config, db, log, secrets },
        tokens: createFlowTokens(shortKeys.of('console sign-in'), world.clock),
      }),
      /** and how often a source begins it. */
      begunLogins: createAttempts(world.clock),
      /** Limits wrong codes and passkeys, once a password was right or instead of it. */
      factorLimits: createFactorLimits(world.clock),
      /** What steps of signing in, and of setting up a second factor, pass on. */
      stepTokens: createFlowTokens<StepTokenKind>(shortKeys.of('sign-in step'), world.clock),
      /** Limits what programs do with API tokens, */
      programRates: createProgramRates(world.clock),
      /** and how often a source shows unknown ones. */
      unknownTokens: createAttempts(world.clock),
      /** Commands that a person signs in by a browser, and limits of their codes. */
      devices: createDevices(world.clock, world.randomBytes),
      deviceAttempts: createAttempts(world.clock),
      confirmations: createConfirmations(world.clock),
      tickets: createTickets(shortKeys.of('stream ticket'), world.clock),
      /** Proofs of domain checks. */
      proofs: createProofs({ ...world, keys: shortKeys.of('domain proof') }),
      /** Ways of visitors that somebody asked about. */
      whys: createWhys(world.clock),
      /** Limits the keys that nodes register: each is a change that goes to every edge. */
      keyAttempts: createAttempts(world.clock),
      /** Limits the sets of services that agents send, and the look-ups of their domains. */
      publishAttempts: createAttempts(world.clock),
      /** Limits the messages that people send to try a channel. */
      alertTests: createAttempts(world.clock),
      /** Limits the links that people send by e-mail, in an hour. */
      linkMails: createAttempts(world.clock, HOUR_MS),
      /** Checking a password takes 19 MB and a thread for some 60 ms. */
      passwordGate: createGate(1, 50),
      authority,
      /** The certificates that edges without the console show where no name is known. */
      ownLeaves,
      /** Proves servers and edges to each other at the port for edges. */
      edgesAuthority: createEdgesAuthority({ db, secrets, ...world }),
      /** Limits how often a source shows tokens of no edge. */
      joinAttempts: createAttempts(world.clock),
      tunnel,
      addresses: createAddressBook(tunnel.network4),
      desiredState: createDesiredState({
        db,
        secrets,
        tunnel,
        signInKeys,
        identities,
        config,
        ownLeaves,
      }),
      agentFiles: readAgentFiles(config.rootDir, () => publicUrl(config)),
      /** For machines that become edges. */
      edgeFiles: createEdgeFiles({
        rootDir: config.rootDir,
        directory: config.paths.edgeProgramDir,
        version: config.version,
        publicUrl: () => publicUrl(config),
      }),
      /** The keys that seal visitors' sessions. */
      signInKeys,
      /** The provider of visitors' sign-in, where one is set up. */
      providers,
      /** Makes the identities that services can verify. */
      identities,
      /** The steps of sign-ins in front of services. */
      flow: createFlow({ ...world, config, db, log, flowTokens, visitorSessions, providers }),
      /** Trials of the provider by operators. */
      trials: createTrials({ ...world, config, flowTokens, providers }),
      /** Registers a function to run when the context ends; the last registered runs first. */
      onDispose: (end: () => void | Promise<void>) => void ends.push(end),
      dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Logs lines of JSON, without fields that hold credentials; addresses too, because those of streams have a token. */
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
