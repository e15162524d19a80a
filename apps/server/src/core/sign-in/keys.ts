import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import * as z from 'zod/mini'
import { change } from '../../changes/change.ts'
import type { LiveBus } from '../../changes/live.ts'
import type { Database } from '../../db/schema.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import type { Secrets } from '../secrets/secrets.ts'

/** What seals the sessions of visitors. */
export interface SignInKey {
  id: string
  secret: string
  /** ms since the epoch. */
  madeAt: number
}

export interface SignInKeys {
  /** The newest first; the edges know sessions by all of them. */
  all(): readonly SignInKey[]
  /** By which new sessions are sealed: the newest one that every edge has had time to learn. */
  current(): SignInKey
  /** Makes a new key when it is time, and drops those by which nothing valid can be sealed any more. */
  renew(): Promise<void>
}

interface Parts {
  db: Kysely<Database>
  bus: LiveBus
  secrets: Secrets
  clock(): number
  randomBytes(count: number): Buffer
}

const SETTING = 'sign-in.keys'
const DAY = 86_400_000
const LIFE = 30 * DAY
/** Until edges that were away have it. */
const LEARNING = 10 * 60_000

const Kept = z.array(z.object({ id: z.string(), secret: z.string(), madeAt: z.number() }))

const HOUR = 3_600_000

interface Renewal {
  signInKeys: SignInKeys
  log: Logger
  onDispose(end: () => void): void
}

/** Looks once an hour whether it is time for a new key, until the context ends. */
export function startKeyRenewal({ signInKeys, log, onDispose }: Renewal): void {
  const look = () => {
    signInKeys.renew().catch((err: unknown) => log.error({ err }, 'key of sessions not renewed'))
  }
  const timer = setInterval(look, HOUR).unref()
  onDispose(() => clearInterval(timer))
  look()
}

/** Reads the keys, or makes the first one. @throws SecretsError */
export async function loadSignInKeys(parts: Parts): Promise<SignInKeys> {
  const { db, secrets, clock } = parts
  const kept = await findSettings(db, SETTING)
  let keys = kept ? Kept.parse(JSON.parse(secrets.open(kept[SETTING]))) : []
  const save = async (next: SignInKey[], store: Kysely<Database>) => {
    await putSettings(store, { [SETTING]: secrets.seal(JSON.stringify(next)) })
  }
  if (keys.length === 0) {
    keys = [makeKey(parts)]
    await save(keys, db)
  }
  const newest = () => {
    const [first] = keys
    if (!first) throw new Error('there is always a key')
    return first
  }
  return {
    all: () => keys,
    current: () => keys.find(({ madeAt }) => madeAt <= clock() - LEARNING) ?? newest(),
    async renew() {
      if (newest().madeAt > clock() - LIFE) return
      // The one before seals until the new one is known, and for as long as a session lives it must be known itself.
      const next = [makeKey(parts), newest()]
      await change(parts, { actor: 'server', what: "key of visitors' sessions renewed" }, async (tx) => {
        await save(next, tx)
        return { value: undefined, touched: {} }
      })
      keys = next
    },
  }
}

function makeKey({ clock, randomBytes }: Parts): SignInKey {
  return {
    id: randomBytes(8).toString('hex'),
    secret: randomBytes(32).toString('base64url'),
    madeAt: clock(),
  }
}
