import { MESSAGES } from '@postern/contract/messages'
import type { ConsoleSignIn } from '@postern/contract/sign-in/console-providers'
import type { SignInWays } from '@postern/contract/sign-in/provider-login'
import type { Actor } from '../../changes/actor.ts'
import { changeIfAny, Unchanged } from '../../changes/change.ts'
import { publicUrl } from '../../config.ts'
import type { Context } from '../../context.ts'
import { readPasswordRule } from '../accounts/password-rule.ts'
import { ConflictError, ValidationError } from '../errors.ts'
import { redirectUrlOf } from '../sign-in/callback.ts'
import { listProviders } from './providers.ts'

/** How people sign in to the console. */
export async function readConsoleSignIn(context: Context): Promise<ConsoleSignIn> {
  const { db } = context
  const only = await readPasswordRule(db)
  const person = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where('id', '=', only ?? 0)
    .executeTakeFirst()
  return {
    providers: await listProviders(db),
    passwordOnlyFor: person ?? null,
    redirectUrl: redirectUrlOf(context),
  }
}

/** What strangers may know: the buttons below the sign-in's form. */
export async function readSignInWays({ db, config }: Context): Promise<SignInWays> {
  const providers = await db.selectFrom('console_providers').select(['id', 'name']).orderBy('id').execute()
  return { providers, origin: new URL(publicUrl(config)).origin }
}

/**
 * @param person who alone may use a password from now on; null: everybody may
 * @throws ValidationError for a person who could not get in by it, ConflictError where others would have no way in
 */
export async function setPasswordRule(
  context: Context,
  actor: Actor,
  person: number | null,
): Promise<ConsoleSignIn> {
  const what =
    person === null ? 'passwords switched on for everybody' : 'passwords switched off but for one person'
  await changeIfAny<void>(context, { actor, what }, async (tx) => {
    if ((await readPasswordRule(tx)) === person) throw new Unchanged(undefined)
    const user = await tx
      .selectFrom('users')
      .select('username')
      .where('id', '=', person ?? 0)
      .where('role', '=', 'admin')
      .where('is_disabled', '=', 0)
      .where('password_hash', 'is not', null)
      .executeTakeFirst()
    if (person !== null && !user)
      throw new ValidationError([{ field: 'person', message: MESSAGES.passwordPerson }])
    if (person !== null && !(await tx.selectFrom('console_providers').select('id').executeTakeFirst()))
      throw new ConflictError('Add a provider first: the others would have no way in.')
    await tx.updateTable('password_rule').set({ user_id: person }).execute()
    return { value: undefined, touched: {}, ...(user && { name: user.username }) }
  })
  return await readConsoleSignIn(context)
}
