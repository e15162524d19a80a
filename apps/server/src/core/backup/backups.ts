import { setTimeout as delay } from 'node:timers/promises'
import type { BackupState } from '@postern/contract/backup'
import type { Disk } from '@postern/host/disk'
import type { Logger } from 'pino'
import type { ServerConfig } from '../../config.ts'
import { createAttempts } from '../accounts/attempts.ts'
import { ConflictError } from '../errors.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { type Copy, listCopies } from './copies.ts'
import { type Failure, findFailure, keepFailure } from './last-failure.ts'
import { makeCopy } from './make.ts'
import { BackupError, describeFailure } from './words.ts'

/** The copies that the server makes of its database, one at a time. */
export interface Backups {
  /** What is known; never reads the disk, which may hang. */
  state(): BackupState
  /** Whether the directory has been read. */
  isKnown(): boolean
  /** Whether there has been none for so long that something is wrong, even if nothing failed. */
  isMissed(): boolean
  /** Makes a copy when one is due. */
  upkeep(): Promise<void>
  /**
   * Makes a copy now. Resolves when it is made or has failed, or is still being made after some seconds.
   * @throws ConflictError, TooManyError
   */
  make(actor: string): Promise<void>
  close(): Promise<void>
}

interface Parts {
  config: ServerConfig
  secrets: Secrets
  log: Logger
  clock(): number
  disk(directory: string): Promise<Disk | null>
}

const HOUR = 3_600_000
const EVERY = 24 * HOUR
const AGAIN_AFTER = HOUR
const MISSED_AFTER = 48 * HOUR
/** Manual tries within ten minutes. */
const MOST_TRIES = 10
/** Shorter than the console's timeout. */
const WAIT_MS = 9000
const CLOSE_WITHIN = 2000

const TEMPORARY = /^\/(var\/)?tmp(\/|$)/
const OWN_TMP =
  'The unit of the server has a /tmp of its own, which is removed when it stops. Choose another directory.'

export async function createBackups({ config, secrets, log, clock, disk }: Parts): Promise<Backups> {
  const { POSTERN_BACKUP_DIR: directory, POSTERN_BACKUP_KEEP: keep } = config.settings
  const { database, secretKey, backupFailure } = config.paths
  const tries = createAttempts(clock)
  const ending = new AbortController()
  const startedAt = clock()
  let copies: Copy[] | undefined
  let failure = directory === null ? null : await findFailure(backupFailure, directory)
  let running: Promise<void> | undefined
  let looking: Promise<void> | undefined

  const newest = () => copies?.find(({ at }) => at <= clock())

  async function run(directory: string): Promise<void> {
    const now = clock()
    try {
      if (config.isUnit && TEMPORARY.test(directory)) throw new BackupError(OWN_TMP)
      const place = { directory, keep }
      const name = await makeCopy({ database, secretKey, secrets, disk }, place, {
        now,
        signal: ending.signal,
      })
      await note(null)
      log.info({ name, directory }, 'a backup was made')
    } catch (error) {
      if (ending.signal.aborted) return
      const problem = describeFailure(error, directory, config.isUnit ?? false)
      log.error({ err: error, directory, problem }, 'a backup could not be made')
      await note({ directory, at: now, problem })
    }
    copies = await listCopies(directory).catch(() => copies)
  }

  /** It counts even if it cannot be stored, as on a full disk. */
  async function note(latest: Failure | null): Promise<void> {
    failure = latest
    await keepFailure(backupFailure, latest).catch((err: unknown) =>
      log.warn({ err }, 'how the last backup went could not be stored'),
    )
  }

  function begin(directory: string): Promise<void> {
    running ??= run(directory).finally(() => {
      running = undefined
    })
    return running
  }

  function isDue(): boolean {
    const now = clock()
    // A failure dated in the future was recorded by a wrong clock.
    if (failure !== null) return now - failure.at >= AGAIN_AFTER || failure.at > now
    return now - (newest()?.at ?? Number.NEGATIVE_INFINITY) >= EVERY
  }

  /** One at a time: a disk that hangs blocks a thread of Node's pool. */
  async function look(): Promise<void> {
    if (directory === null) return
    // If it cannot be read, the copy that follows reports why.
    if (running === undefined) copies = await listCopies(directory).catch(() => [])
    if (running !== undefined || isDue()) await begin(directory)
  }

  return {
    state() {
      const last = newest()
      return {
        directory,
        keep,
        isRunning: running !== undefined,
        copies: copies?.length ?? 0,
        last: last ? { ...last, at: new Date(last.at).toISOString() } : null,
        failure: failure && { at: new Date(failure.at).toISOString(), problem: failure.problem },
      }
    },
    isKnown: () => directory === null || copies !== undefined,
    isMissed: () => directory !== null && clock() - (newest()?.at ?? startedAt) >= MISSED_AFTER,
    upkeep() {
      looking ??= look().finally(() => {
        looking = undefined
      })
      return looking
    },
    async make(actor) {
      if (directory === null)
        throw new ConflictError('There is no directory for backups. Set POSTERN_BACKUP_DIR and start again.')
      if (running !== undefined)
        throw new ConflictError('A backup is being made. Wait until it is done, and try again.')
      tries.check('all', MOST_TRIES)
      tries.add('all', 1)
      log.info({ actor }, 'a backup was asked for')
      await Promise.race([begin(directory), delay(WAIT_MS, undefined, { ref: false })])
    },
    async close() {
      ending.abort()
      await Promise.race([running, delay(CLOSE_WITHIN, undefined, { ref: false })])
    },
  }
}

const UPKEEP_EVERY = 60_000

/** Checks every minute whether a copy is due, until the context ends. */
export function startBackups({ backups, log, onDispose }: StartParts): void {
  const timer = setInterval(() => {
    backups.upkeep().catch((err: unknown) => log.error({ err }, 'backups could not be looked after'))
  }, UPKEEP_EVERY).unref()
  onDispose(() => clearInterval(timer))
}

interface StartParts {
  backups: Backups
  log: Logger
  onDispose(end: () => void): void
}
