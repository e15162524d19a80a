import type { Context } from '../../context.ts'
import { noteNewNetwork } from '../alerts/new-network.ts'
import { endSessionsElsewhere } from './session-hosts.ts'
import { createSession } from './sessions.ts'
import { isKnownSource, rememberSource, sourceOf } from './sources.ts'

/** Where somebody signs in from, and where. */
export interface SignInPlace {
  /** The source of the request. */
  address: string
  /** The name in the request, or '' for an address. */
  host: string
  /** The same as it was sent, with the port. */
  site: string
}

export interface BegunSession {
  token: string
  /** Seconds. */
  expiresIn: number
}

/**
 * For a person who has shown all that the account asks for.
 * @param key binds the new session, see `sessions.ts`
 */
export async function beginSession(
  context: Context,
  { id, username }: { id: number; username: string },
  { address, host }: SignInPlace,
  key: string | undefined,
): Promise<BegunSession> {
  const source = sourceOf(address)
  const isKnown = await isKnownSource(context, username, source)
  await rememberSource(context, id, source)
  if (!isKnown) await noteNewNetwork(context, id, address)
  const session = await createSession(context, id, host, key)
  // The console may have left the name while the password was checked.
  await endSessionsElsewhere(context)
  return session
}
