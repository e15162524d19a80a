import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import * as z from 'zod/mini'
import type { Database } from '../../db/schema.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import type { Secrets } from './secrets.ts'

/** What keys are derived for: what one has sealed opens nothing elsewhere. */
export type KeyPurpose =
  | 'visitor sign-in'
  | 'console sign-in'
  | 'sign-in step'
  | 'stream ticket'
  | 'domain proof'

/** Newest first: that one seals, and any of them opens. */
export type KeysOfPurpose = () => readonly [Buffer, ...Buffer[]]

/**
 * Keys for what is under way for minutes. They come from the installation's key and a salt that changes each quarter of
 * an hour, so what they seal outlives a restart, and a stolen copy of key and database soon seals nothing.
 */
export interface ShortKeys {
  of(purpose: KeyPurpose): KeysOfPurpose
  /** Waits until the last salt is stored. */
  close(): Promise<void>
}

interface Parts {
  db: Kysely<Database>
  secrets: Pick<Secrets, 'derive'>
  log: Pick<Logger, 'error'>
  clock(): number
  randomBytes(count: number): Buffer
}

/** The setting. */
export const SALTS = 'secret.salts'
/** The longest that anything sealed may last, in s. */
export const LONGEST_SECONDS = 900
/** How long a salt seals, in ms; then it opens for as long as what it has sealed. */
const SEALS = LONGEST_SECONDS * 1000

const Salt = z.object({ salt: z.string(), madeAt: z.number() })
type Salt = z.infer<typeof Salt>

export async function loadShortKeys({ db, secrets, log, clock, randomBytes }: Parts): Promise<ShortKeys> {
  const stored = (await findSettings(db, SALTS))?.[SALTS]
  let salts: Salt[] = stored === undefined ? [] : z.array(Salt).parse(JSON.parse(stored))
  let storing = Promise.resolve()
  /** A clock that was set back does not make salts last longer. */
  const isWithin = ({ madeAt }: Salt, ms: number) => Math.abs(clock() - madeAt) < ms
  const current = (): [Salt, ...Salt[]] => {
    const [newest, ...older] = salts.filter((each) => isWithin(each, 2 * SEALS))
    if (newest && isWithin(newest, SEALS)) return [newest, ...older]
    const next = { salt: randomBytes(32).toString('base64url'), madeAt: clock() }
    salts = [next, ...(newest ? [newest, ...older] : [])]
    const value = JSON.stringify(salts)
    storing = storing
      .then(() => putSettings(db, { [SALTS]: value }))
      .catch((err: unknown) => log.error({ err }, 'a salt was not stored: a restart ends what it seals'))
    return [next, ...salts.slice(1)]
  }
  const derive = ({ salt }: Salt, purpose: KeyPurpose) =>
    secrets.derive(purpose, Buffer.from(salt, 'base64url'))
  return {
    of: (purpose) => () => {
      const [newest, ...older] = current()
      return [derive(newest, purpose), ...older.map((salt) => derive(salt, purpose))]
    },
    close: () => storing,
  }
}
