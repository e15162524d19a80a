import type { LoginForm } from '@postern/contract/auth'
import type { Context } from '../../context.ts'
import { UnauthenticatedError } from '../errors.ts'
import type { Attempt } from './login-limits.ts'
import { hashPassword, isPassword } from './passwords.ts'
import { createSession } from './sessions.ts'
import { isKnownSource, rememberSource, sourceOf } from './sources.ts'

/** The first account, when its password was generated. */
export interface GeneratedAdmin {
  username: string
  password: string
}

/**
 * Makes the first account when there is none; after that the database is the truth.
 * @param chosen its password; null to generate one
 * @returns the credentials when the password was generated, to be shown this one time
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
  const password_hash = await hashPassword(password, context.scryptCost)
  await context.db
    .insertInto('users')
    .values({ username, password_hash, role: 'admin', created_at: now, updated_at: now })
    .execute()
  return chosen === null ? { username, password } : undefined
}

/**
 * @param address where the request comes from
 * @param key what the new session is bound to; see `sessions.ts`
 * @throws TooManyError, UnauthenticatedError, UnavailableError
 */
export async function signIn(
  context: Context,
  form: LoginForm,
  address: string,
  key: string | undefined,
): Promise<{ token: string; expiresIn: number }> {
  const source = sourceOf(address)
  const isKnown = await isKnownSource(context, form.username, source)
  const attempt = context.loginLimits.take(form.username, source, isKnown)
  const userId = await checkPassword(context, form, attempt)
  await rememberSource(context, userId, source)
  return createSession(context, userId, key)
}

/**
 * An unknown name costs as much time as a wrong password. Only a wrong password is a failure: when the server was too
 * busy to look at it, the attempt does not count.
 * @returns the account's id
 */
async function checkPassword(context: Context, form: LoginForm, attempt: Attempt): Promise<number> {
  const user = await context.db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where('username', '=', form.username)
    .executeTakeFirst()
  const stored = user?.password_hash ?? decoy(context.scryptCost)
  const isRight = await context.passwordGate
    .pass(() => isPassword(form.password, stored), attempt.rank)
    .catch((error: unknown) => {
      attempt.undo()
      throw error
    })
  if (!user || !isRight) throw new UnauthenticatedError('Invalid Credentials', 'credentials')
  attempt.succeed()
  return user.id
}

/** A stored value in the right form that no password matches. */
function decoy(cost: number): string {
  return `scrypt$${cost}$${'A'.repeat(22)}$${'A'.repeat(43)}`
}
