import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import * as z from 'zod/mini'
import { INSTALLATION } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import type { LiveBus } from '../../changes/live.ts'
import type { Database } from '../../db/schema.ts'
import { findSettings, putSettings } from '../../db/settings.ts'
import { PLACES, type Secrets } from '../secrets/secrets.ts'

export interface SignInKey {
  id: string
  secret: string
  /** ms since the epoch. */
  madeAt: number
}

export interface SignInKeys {
  /** Newest first; what any of them has sealed or signed is still valid. */
  all(): readonly SignInKey[]
  /** The key in use: the newest that everybody has had time to learn. */
  current(): SignInKey
  /** Makes a new key when it is time, and removes keys whose products have all expired. */
  renew(): Promise<void>
}

export interface KeyParts {
  db: Kysely<Database>
  bus: LiveBus
  secrets: Secrets
  clock(): number
  randomBytes(count: number): Buffer
}

/** A kind of keys, and where they are stored. */
export interface KeyKind {
  setting: 'sign-in.keys' | 'sign-in.identity-keys'
  /** In the record of changes. */
  what: string
  /** How long until everybody who needs a new key has it, in ms. */
  learning: number
  makeSecret(): string
}

const [HOUR, DAY] = [3_600_000, 86_400_000]
const LIFE = 30 * DAY

const Kept = z.array(z.object({ id: z.string(), secret: z.string(), madeAt: z.number() }))

interface Renewal {
  signInKeys: Pick<SignInKeys, 'renew'>
  identities: Pick<SignInKeys, 'renew'>
  log: Logger
  onDispose(end: () => void): void
}

/** Checks once an hour whether it is time for a new key, until the context ends. */
export function startKeyRenewal({ signInKeys, identities, log, onDispose }: Renewal): void {
  const look = () => {
    for (const keys of [signInKeys, identities])
      keys.renew().catch((err: unknown) => log.error({ err }, 'key of the sign-in not renewed'))
  }
  const timer = setInterval(look, HOUR).unref()
  onDispose(() => clearInterval(timer))
  look()
}

/** The keys that seal visitors' sessions. */
export async function loadSignInKeys(parts: KeyParts): Promise<SignInKeys> {
  return await loadKeys(parts, {
    setting: 'sign-in.keys',
    what: "key of visitors' sessions renewed",
    // By then, edges that were disconnected have it.
    learning: 10 * 60_000,
    makeSecret: () => parts.randomBytes(32).toString('base64url'),
  })
}

/** Reads the keys of a kind, or makes the first one. @throws SecretsError */
export async function loadKeys(parts: KeyParts, kind: KeyKind): Promise<SignInKeys> {
  const { db, secrets, clock, randomBytes } = parts
  const { setting, what, learning } = kind
  const make = () => ({
    id: randomBytes(8).toString('hex'),
    secret: kind.makeSecret(),
    madeAt: clock(),
  })
  const kept = await findSettings(db, setting)
  let keys: SignInKey[] = kept
    ? Kept.parse(JSON.parse(secrets.open(kept[setting], PLACES.setting(setting))))
    : []
  const save = async (next: SignInKey[], store: Kysely<Database>) => {
    await putSettings(store, { [setting]: secrets.seal(JSON.stringify(next), PLACES.setting(setting)) })
  }
  if (keys.length === 0) {
    keys = [make()]
    await save(keys, db)
  }
  const newest = () => {
    const [first] = keys
    if (!first) throw new Error('there is always a key')
    return first
  }
  return {
    all: () => keys,
    current: () => keys.find(({ madeAt }) => madeAt <= clock() - learning) ?? newest(),
    async renew() {
      if (newest().madeAt > clock() - LIFE) return
      // The previous one is in use until the new one is known, and what it made stays valid longer.
      const next = [make(), newest()]
      await change(parts, { actor: INSTALLATION, what }, async (tx) => {
        await save(next, tx)
        return { value: undefined, touched: {} }
      })
      keys = next
    },
  }
}
