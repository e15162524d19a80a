import type { LoginForm } from '@postern/contract/auth'
import type { Context } from '../../context.ts'
import { UnauthenticatedError } from '../errors.ts'
import { getUserByPassword } from './accounts.ts'
import { isKnownSource, rememberSource } from './known-sources.ts'
import type { Attempt } from './login-limits.ts'
import { createSession } from './sessions.ts'
import { sourceOf } from './source-network.ts'

/**
 * @param address where the request comes from
 * @param key what the new session shall be bound to; see `sessions.ts`
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
  const { id } = await checkPassword(context, form, attempt)
  await rememberSource(context, id, source)
  return createSession(context, id, key)
}

/** Only a wrong password is a failure: one that nobody could look at, because the server was busy, is none. */
async function checkPassword(context: Context, form: LoginForm, attempt: Attempt): Promise<{ id: number }> {
  try {
    const user = await getUserByPassword(context, form, attempt.rank)
    attempt.succeed()
    return user
  } catch (error) {
    if (!(error instanceof UnauthenticatedError)) attempt.undo()
    throw error
  }
}
