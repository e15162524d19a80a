import { LIMITS } from '@postern/contract/limits'
import { messageOf } from '@postern/host/errors'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import * as z from 'zod/mini'
import type { LiveBus } from '../../changes/live.ts'
import { publicHostOf, type ServerConfig } from '../../config.ts'
import type { Database } from '../../db/schema.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import { PLACES, type Secrets } from '../secrets/secrets.ts'
import { type Combined, combineSettings } from './combine.ts'

/** Values of a name that a newer version had are kept for it. */
const Chosen = z.object({
  values: z.record(z.string(), z.string()),
  /** Names from before at which the installation still answers, the newest first. */
  formerHosts: z.array(z.string()).check(z.maxLength(LIMITS.formerHosts)),
  updatedAt: z.string(),
  updatedBy: z.nullable(z.string()),
})
/** All that people set in the console, as it is stored. */
export type Chosen = z.infer<typeof Chosen>

/** The settings in force. What people set in the console counts as soon as its change is committed. */
export interface LiveSettings {
  /** Reads them anew with each use. */
  readonly config: ServerConfig
  /** Those that people set, as far as they are in force, and why others are not. */
  readonly state: Pick<Combined, 'chosen' | 'problems'>
  /** All that is stored. */
  read(db: Kysely<Database>): Promise<Chosen>
  /** @throws SettingsError when they cannot be in force */
  preview(chosen: Chosen): Combined & Pick<ServerConfig, 'publicHost' | 'ownHosts'>
  /** Stores them in the transaction of this revision. */
  save(tx: Kysely<Database>, revision: number, chosen: Chosen): Promise<void>
}

interface Parts {
  db: Kysely<Database>
  secrets: Secrets
  bus: LiveBus
  log: Pick<Logger, 'error'>
}

const KEY = 'console.settings'
const NONE: Chosen = { values: {}, formerHosts: [], updatedAt: new Date(0).toISOString(), updatedBy: null }

/** @param given as the environment has it. @throws SettingsError when the installation has no public host */
export async function loadSettings(parts: Parts, given: ServerConfig): Promise<LiveSettings> {
  const { db, secrets, bus } = parts
  let current = preview(given, await findChosen(parts, db))
  /** By revision, until its change is committed. */
  const saved = new Map<number, typeof current>()
  // The first listener: when the others look, the new ones are in force.
  bus.listen((hint) => {
    if (hint.kind !== 'changed' || !hint.touched.settings) return
    current = saved.get(hint.revision) ?? current
    for (const revision of saved.keys()) if (revision <= hint.revision) saved.delete(revision)
  })
  const { paths, version, rootDir, defaultHost, isUnit = false } = given
  return {
    config: {
      ...{ paths, version, rootDir, defaultHost, isUnit, given: given.given },
      get settings() {
        return current.settings
      },
      get publicHost() {
        return current.publicHost
      },
      get ownHosts() {
        return current.ownHosts
      },
    },
    get state() {
      return current
    },
    read: (db) => findChosen(parts, db),
    preview: (chosen) => preview(given, chosen),
    async save(tx, revision, chosen) {
      saved.set(revision, preview(given, chosen))
      await putSettings(tx, { [KEY]: secrets.seal(JSON.stringify(chosen), PLACES.setting(KEY)) })
    },
  }
}

function preview({ given, defaultHost }: ServerConfig, { values, formerHosts }: Chosen) {
  const combined = combineSettings(given, values)
  const publicHost = publicHostOf(combined.settings, defaultHost)
  return { ...combined, publicHost, ownHosts: [...new Set([publicHost, ...formerHosts])] }
}

/** One that cannot be read counts as none, so that the server starts all the same. */
async function findChosen({ secrets, log }: Parts, db: Kysely<Database>): Promise<Chosen> {
  const sealed = (await findSettings(db, KEY))?.[KEY]
  if (sealed === undefined) return NONE
  try {
    return Chosen.parse(JSON.parse(secrets.open(sealed, PLACES.setting(KEY))))
  } catch (error) {
    log.error(
      { reason: messageOf(error) },
      'the settings of the console cannot be read: the defaults are in force',
    )
    return NONE
  }
}
