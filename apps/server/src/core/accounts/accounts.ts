import type { LoginForm } from '@postern/contract/sign-in/auth'
import type { Context } from '../../context.ts'
import { noteNewNetwork } from '../alerts/new-network.ts'
import { UnauthenticatedError } from '../errors.ts'
import type { Attempt } from './login-limits.ts'
import { hashPassword, isOutdated, isPassword } from './passwords.ts'
import { endSessionsElsewhere } from './session-hosts.ts'
import { createSession } from './sessions.ts'
import { type Arrival, isKnownSource, rememberSource, sourceOf } from './sources.ts'

/** The first account, when its password was generated. */
export interface GeneratedAdmin {
  username: string
  password: string
}

/**
 * Creates the first account when there is none; after that, only the database counts.
 * @param chosen its password; null to generate one
 * @returns the credentials when the password was generated, to be shown only now
 */
export async function createFirstAccount(
  context: Context,
  chosen: string | null,
): Promise<GeneratedAdmin | undefined> {
  const { POSTERN_ADMIN_USERNAME: username } = context.config.settings
  const existing = await context.db.selectFrom('users').select('id').limit(1).executeTakeFirst()
  if (existing) return undefined
  const password = chosen ?? context.randomBytes(15).toString('base64url')
  const now = new Date(context.clock()).toISOString()
  const password_hash = await hashPassword(password, context.passwordCost)
  await context.db
    .insertInto('users')
    .values({ username, password_hash, role: 'admin', created_at: now, updated_at: now })
    .execute()
  return chosen === null ? { username, password } : undefined
}

/**
 * @param arrival how the request came in; `host` is the name in it, or '' for an address
 * @param key binds the new session, see `sessions.ts`
 * @throws TooManyError, UnauthenticatedError, UnavailableError
 */
export async function signIn(
  context: Context,
  form: LoginForm,
  arrival: Arrival & { host: string },
  key: string | undefined,
): Promise<{ token: string; expiresIn: number }> {
  const source = sourceOf(arrival)
  const isKnown = await isKnownSource(context, form.username, source)
  const attempt = context.loginLimits.take(form.username, source, isKnown)
  const userId = await checkPassword(context, form, attempt)
  await rememberSource(context, userId, source)
  if (!isKnown) await noteNewNetwork(context, userId, arrival.address)
  const session = await createSession(context, userId, arrival.host, key)
  // The console may have left the name while the password was checked.
  await endSessionsElsewhere(context)
  return session
}

/**
 * An unknown name takes as long as a wrong password, since it is compared with the first account's. Only a wrong password is a failure: when the server was too busy
 * to check it, the attempt does not count.
 * @returns the account's id
 */
async function checkPassword(context: Context, form: LoginForm, attempt: Attempt): Promise<number> {
  const users = context.db.selectFrom('users').select(['id', 'password_hash'])
  const user = await users.where('username', '=', form.username).executeTakeFirst()
  const { password_hash: stored } = user ?? (await users.orderBy('id').limit(1).executeTakeFirstOrThrow())
  const isRight = await context.passwordGate
    .pass(() => isPassword(form.password, stored), attempt.rank)
    .catch((error: unknown) => {
      attempt.undo()
      throw error
    })
  if (!user || !isRight) throw new UnauthenticatedError('Invalid Credentials', 'credentials')
  attempt.succeed()
  if (isOutdated(stored)) await renewHash(context, user, form.password)
  return user.id
}

async function renewHash(
  { db, passwordCost }: Context,
  { id, password_hash }: { id: number; password_hash: string },
  password: string,
): Promise<void> {
  const renewed = await hashPassword(password, passwordCost)
  // Unless the password has changed meanwhile.
  await db
    .updateTable('users')
    .set({ password_hash: renewed })
    .where('id', '=', id)
    .where('password_hash', '=', password_hash)
    .execute()
}
