import type { LoginForm } from '@postern/contract/auth'
import type { Context } from '../../context.ts'
import { UnauthenticatedError } from '../errors.ts'
import { hashPassword, isPassword } from './passwords.ts'

/** Who can sign in for the first time; only told when this program made the password up. */
export interface GeneratedAdmin {
  username: string
  password: string
}

/**
 * Makes the first account when there is none; after that the database is the truth.
 * @param chosen its password; null when one shall be made up
 * @returns the credentials when the password was generated, so that they can be shown this one time.
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
 * An unknown name costs as much time as a wrong password.
 * @param rank the place in the line of those whose password is looked at; the smaller, the sooner
 * @throws UnauthenticatedError, UnavailableError
 */
export async function getUserByPassword(
  context: Context,
  form: LoginForm,
  rank: number,
): Promise<{ id: number; username: string }> {
  const user = await context.db
    .selectFrom('users')
    .select(['id', 'username', 'password_hash'])
    .where('username', '=', form.username)
    .executeTakeFirst()
  const stored = user?.password_hash ?? decoy(context.scryptCost)
  const isRight = await context.passwordGate.pass(() => isPassword(form.password, stored), rank)
  if (!user || !isRight) throw new UnauthenticatedError('Invalid Credentials', 'credentials')
  return { id: user.id, username: user.username }
}

/** A stored value in the right form that no password matches. */
function decoy(cost: number): string {
  return `scrypt$${cost}$${'A'.repeat(22)}$${'A'.repeat(43)}`
}
