import type { Context } from '../../context.ts'
import { noteNewNetwork } from '../alerts/new-network.ts'
import { endSessionsElsewhere } from './session-hosts.ts'
import { createSession, type SessionPlace } from './sessions.ts'
import { type Arrival, isKnownSource, rememberSource, sourceOf } from './sources.ts'
import type { Checked } from './stamp.ts'

export interface SignInPlace extends SessionPlace, Arrival {
  /** The host as it was sent, with the port. */
  site: string
}

export interface BegunSession {
  token: string
  /** Seconds. */
  expiresIn: number
}

/** The provider is that by which the person signed in; null or absent: none. */
export interface Entrant extends Checked {
  username: string
  providerId?: number | null
}

/**
 * For a person who has shown all that the account asks for.
 * @param key binds the new session, see `sessions.ts`
 */
export async function beginSession(
  context: Context,
  { id, username, stamp, providerId }: Entrant,
  place: SignInPlace,
  key: string | undefined,
): Promise<BegunSession> {
  const source = sourceOf(place)
  const isKnown = await isKnownSource(context, username, source)
  await rememberSource(context, id, source)
  if (!isKnown) await noteNewNetwork(context, id, place.address)
  const session = await createSession(context, { id, stamp }, place, key, providerId ?? null)
  // The console may have left the name while the password was checked.
  await endSessionsElsewhere(context)
  return session
}
