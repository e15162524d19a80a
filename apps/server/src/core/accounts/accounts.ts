import { MESSAGES } from '@postern/contract/messages'
import type { LoginForm } from '@postern/contract/sign-in/auth'
import type { SecondStep } from '@postern/contract/sign-in/second-step'
import type { Context } from '../../context.ts'
import { ForbiddenError, UnauthenticatedError, ValidationError } from '../errors.ts'
import { type BegunSession, beginSession, type SignInPlace } from './begin-session.ts'
import { isNewSession } from './confirmations.ts'
import { findSecondStep } from './factors/second-step.ts'
import type { Attempt } from './login-limits.ts'
import { refusePassword } from './password-rule.ts'
import { hashPassword, isOutdated, isPassword } from './passwords.ts'
import type { Session } from './sessions.ts'
import { type Arrival, isKnownSource, sourceOf } from './sources.ts'
import { type Checked, type Confirmed, stampOf } from './stamp.ts'

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
 * @param key binds the new session, see `sessions.ts`
 * @returns the session, or what the account asks for besides its password
 * @throws TooManyError, UnauthenticatedError, UnavailableError; ForbiddenError for a right password that may not be used
 */
export async function signIn(
  context: Context,
  form: LoginForm,
  place: SignInPlace,
  key: string | undefined,
): Promise<BegunSession | SecondStep> {
  const source = sourceOf(place)
  const isKnown = await isKnownSource(context, form.username, source)
  const attempt = context.loginLimits.take(form.username, source, isKnown)
  const checked = await checkPassword(context, form, attempt)
  await refusePassword(context.db, checked.id)
  const step = await findSecondStep(context, checked, place, key)
  return step ?? (await beginSession(context, { ...checked, username: form.username }, place, key))
}

/**
 * For what a person at an unlocked screen must not do.
 * @param arrival how the request came in
 * @returns what was compared, for `requireConfirmed`
 * @throws ValidationError, TooManyError, UnavailableError; ForbiddenError for an account without a password that has
 * not just signed in
 */
export async function confirmPassword(
  context: Context,
  { userId, sessionId }: Pick<Session, 'userId' | 'sessionId'>,
  password: string | null,
  arrival: Arrival,
): Promise<Confirmed> {
  const { username, password_hash } = await context.db
    .selectFrom('users')
    .select(['username', 'password_hash'])
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  const confirmed = async () => {
    const stamp = await stampOf(context.db, { id: userId, password_hash })
    return { id: userId, stamp, sessionId }
  }
  if (password_hash === null) {
    if (!(await isNewSession(context, sessionId)))
      throw new ForbiddenError(MESSAGES.signInAgain, 'sign_in_again')
    return await confirmed()
  }
  if (password === null) throw new ValidationError([{ field: 'password', message: MESSAGES.required }])
  const source = sourceOf(arrival)
  const isKnown = await isKnownSource(context, username, source)
  const attempt = context.loginLimits.take(username, source, isKnown, sessionId)
  const isRight = await compare(context, password, password_hash, attempt)
  if (!isRight) throw new ValidationError([{ field: 'password', message: MESSAGES.wrongPassword }])
  attempt.succeed()
  context.confirmations.note(sessionId)
  return await confirmed()
}

/** Only a wrong password is a failure: when the server was too busy to check it, the attempt does not count. */
async function compare(
  { passwordGate }: Context,
  password: string,
  stored: string,
  attempt: Attempt,
): Promise<boolean> {
  try {
    return await passwordGate.pass(() => isPassword(password, stored), attempt.rank)
  } catch (error) {
    attempt.undo()
    throw error
  }
}

/**
 * An unknown name takes as long as a wrong password, since it is compared with the first account's.
 * @returns the account with the password that was compared
 */
async function checkPassword(context: Context, form: LoginForm, attempt: Attempt): Promise<Checked> {
  const users = context.db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where('password_hash', 'is not', null)
    .$narrowType<{ password_hash: string }>()
  const user = await users
    .where('username', '=', form.username)
    .where('is_disabled', '=', 0)
    .executeTakeFirst()
  const stored = (user ?? (await users.orderBy('id').limit(1).executeTakeFirst()))?.password_hash
  const isRight = stored !== undefined && (await compare(context, form.password, stored, attempt))
  if (!user || !isRight) throw new UnauthenticatedError('Invalid Credentials', 'credentials')
  attempt.succeed()
  const { id } = user
  const password_hash = isOutdated(stored) ? await renewHash(context, user, form.password) : stored
  return { id, stamp: await stampOf(context.db, { id, password_hash }) }
}

/** @returns what is stored of the password then, or would be */
async function renewHash(
  { db, passwordCost }: Context,
  { id, password_hash }: { id: number; password_hash: string },
  password: string,
): Promise<string> {
  const renewed = await hashPassword(password, passwordCost)
  // Unless the password has changed meanwhile.
  await db
    .updateTable('users')
    .set({ password_hash: renewed })
    .where('id', '=', id)
    .where('password_hash', '=', password_hash)
    .execute()
  return renewed
}
