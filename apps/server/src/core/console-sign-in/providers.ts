import { ALERT_MESSAGES } from '@postern/contract/alerts/messages'
import { LIMITS } from '@postern/contract/limits'
import { MESSAGES } from '@postern/contract/messages'
import type { ConsoleProvider, ConsoleProviderForm } from '@postern/contract/sign-in/console-providers'
import type { Kysely, Transaction } from 'kysely'
import type { Actor } from '../../changes/actor.ts'
import { change, nextTime } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { flag } from '../../db/columns.ts'
import type { Database } from '../../db/schema.ts'
import { readPasswordRule } from '../accounts/password-rule.ts'
import { takeSessionsOfProvider, tellEnded } from '../accounts/sessions.ts'
import { ConflictError, NotFoundError, ValidationError } from '../errors.ts'
import type { Patch } from '../patch.ts'
import { refuseNoAdmin } from '../people/last-admin.ts'
import { PLACES } from '../secrets/secrets.ts'
import { isOfAnyTenant } from '../sign-in/openid.ts'
import type { Provider } from '../sign-in/provider.ts'
import { ProviderError } from '../sign-in/provider-error.ts'
import { disconnectAll } from './disconnect.ts'
import {
  addressOf,
  formOf,
  getProviderRow,
  openPlace,
  openSecret,
  type ProviderRow,
} from './open-providers.ts'

type Db = Kysely<Database>

/** In order of creation. There are few. */
export async function listProviders(db: Db): Promise<ConsoleProvider[]> {
  const rows = await db.selectFrom('console_providers').selectAll().orderBy('id').execute()
  const held = await db
    .selectFrom('user_identities')
    .select(({ fn }) => ['provider_id', fn.count<number>('user_id').distinct().as('people')])
    .groupBy('provider_id')
    .execute()
  return rows.map((row) => ({
    ...formOf(row),
    id: row.id,
    people: held.find(({ provider_id }) => provider_id === row.id)?.people ?? 0,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }))
}

/** @throws ValidationError, ConflictError */
export async function createConsoleProvider(
  context: Context,
  actor: Actor,
  patch: Patch<ConsoleProviderForm>,
): Promise<ConsoleProvider> {
  const form = patch.onto({})
  refuseUnsafeRules(form)
  const secret = settleSecret(form, null)
  await refuseUnreachable(form, secret)
  const now = new Date(context.clock()).toISOString()
  const id = await change(context, { actor, what: 'sign-in provider added' }, async (tx) => {
    await requireRoom(tx)
    await refuseTakenName(tx, form.name)
    const { id } = await tx
      .insertInto('console_providers')
      .values({ ...columnsOf(form), client_secret: '', created_at: now, updated_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    // Bound to the row, whose id is known only now.
    await tx
      .updateTable('console_providers')
      .set({ client_secret: context.secrets.seal(secret, PLACES.provider(id)) })
      .where('id', '=', id)
      .execute()
    return { value: id, touched: {}, name: form.name }
  })
  return await getProvider(context.db, id)
}

/** @throws NotFoundError, ValidationError, ConflictError */
export async function updateConsoleProvider(
  context: Context,
  actor: Actor,
  id: number,
  patch: Patch<ConsoleProviderForm>,
): Promise<ConsoleProvider> {
  const before = await getProviderRow(context.db, id)
  const wanted = patch.onto(formOf(before), before.updated_at)
  if (addressOf(wanted.issuer) !== addressOf(before.issuer))
    await refuseUnreachable(wanted, settleSecret(wanted, before, context))
  await change(context, { actor, what: 'sign-in provider updated' }, async (tx) => {
    const row = await getProviderRow(tx, id)
    const form = patch.onto(formOf(row), row.updated_at)
    refuseUnsafeRules(form)
    const secret = settleSecret(form, row, context)
    await refuseTakenName(tx, form.name, id)
    await tx
      .updateTable('console_providers')
      .set({
        ...columnsOf(form),
        // Sealed anew it would look as if it had changed.
        ...(secret !== openSecret(context, row) && {
          client_secret: context.secrets.seal(secret, PLACES.provider(id)),
        }),
        updated_at: nextTime(context.clock(), row.updated_at),
      })
      .where('id', '=', id)
      .execute()
    return { value: undefined, touched: {}, name: form.name }
  })
  return await getProvider(context.db, id)
}

/**
 * People's connections with it go, too, the sessions that were begun by it end, and API tokens, see `disconnectAll`.
 * @throws NotFoundError, ConflictError where nobody could sign in any more
 */
export async function removeConsoleProvider(
  context: Context,
  actor: Actor,
  id: number,
): Promise<{ id: number }> {
  const ended = await change(context, { actor, what: 'sign-in provider deleted' }, async (tx) => {
    const { name } = await getProviderRow(tx, id)
    const others = await tx.selectFrom('console_providers').select('id').where('id', '!=', id).execute()
    if (others.length === 0 && (await readPasswordRule(tx)) !== null)
      throw new ConflictError(
        'Only one person may use a password, so the others need a provider. Let everybody use a password first.',
        [],
        'in_use',
      )
    await disconnectAll(tx, { provider_id: id }, context.clock())
    await refuseNoAdmin(tx)
    const value = await takeSessionsOfProvider(tx, id)
    await tx.deleteFrom('console_providers').where('id', '=', id).execute()
    return { value, touched: {}, name }
  })
  tellEnded(context, ended)
  return { id }
}

/** The provider that a form describes, with the stored secret of the one with this id. @throws ValidationError, NotFoundError */
export async function openProviderForm(
  context: Context,
  form: ConsoleProviderForm,
  id: number | null,
): Promise<Provider> {
  const row = id === null ? null : await getProviderRow(context.db, id)
  return openPlace(form, settleSecret(form, row, context, 'form.'))
}

function columnsOf(form: ConsoleProviderForm) {
  return {
    name: form.name,
    issuer: form.issuer,
    client_id: form.clientId,
    is_making_accounts: flag(form.makesAccounts),
    rules: JSON.stringify(form.rules),
  }
}

function settleSecret(form: ConsoleProviderForm, row: null): string
function settleSecret(
  form: ConsoleProviderForm,
  row: ProviderRow | null,
  context: Pick<Context, 'secrets'>,
  at?: string,
): string
/**
 * Whoever edits a provider could have its secret sent to a server of their own, so another one needs it again.
 * @param at before the field's name in an error
 * @throws ValidationError
 */
function settleSecret(
  { clientSecret, issuer }: ConsoleProviderForm,
  row: ProviderRow | null,
  context?: Pick<Context, 'secrets'>,
  at = '',
): string {
  if (clientSecret !== null) return clientSecret
  const refuse = (message: string) => new ValidationError([{ field: `${at}clientSecret`, message }])
  if (!row || !context) throw refuse(MESSAGES.required)
  if (addressOf(issuer) !== addressOf(row.issuer)) throw refuse(ALERT_MESSAGES.secretAgain)
  return openSecret(context, row)
}

/** Claims that count whichever tenant of Microsoft an account is of: a verified address, and the tenant itself. */
const OF_ANY_TENANT = ['email', 'tid']

/** @throws ValidationError for rules that anybody could fit who has a tenant */
function refuseUnsafeRules({ issuer, rules }: ConsoleProviderForm): void {
  if (!isOfAnyTenant(addressOf(issuer))) return
  const errors = rules.flatMap(({ claim }, at) =>
    OF_ANY_TENANT.includes(claim) ? [] : [{ field: `rules.${at}.claim`, message: MESSAGES.claimOfAnyTenant }],
  )
  if (errors.length > 0) throw new ValidationError(errors)
}

/** Asks the provider for its endpoints, before anybody is sent to it. @throws ValidationError */
async function refuseUnreachable(form: ConsoleProviderForm, secret: string): Promise<void> {
  try {
    await openPlace(form, secret).discover()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw new ValidationError([{ field: 'issuer', message: error.message }])
  }
}

async function requireRoom(tx: Db): Promise<void> {
  const held = await tx.selectFrom('console_providers').select('id').execute()
  if (held.length >= LIMITS.consoleProviders)
    throw new ConflictError(`There are ${held.length} providers, which is the limit. Delete one first.`)
}

async function refuseTakenName(tx: Transaction<Database>, name: string, but?: number): Promise<void> {
  const held = await tx.selectFrom('console_providers').select(['id', 'name']).execute()
  const isTaken = held.some((row) => row.id !== but && row.name.toLowerCase() === name.toLowerCase())
  const message = MESSAGES.providerNamed
  if (isTaken) throw new ConflictError(message, [{ field: 'name', message }])
}

async function getProvider(db: Db, id: number): Promise<ConsoleProvider> {
  const found = (await listProviders(db)).find((provider) => provider.id === id)
  if (!found) throw new NotFoundError('Provider')
  return found
}
