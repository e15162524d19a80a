import type { ProviderLogin, ProviderLoginStart } from '@postern/contract/sign-in/provider-login'
import type { z } from 'zod/mini'
import { personOf } from '../../changes/actor.ts'
import { change } from '../../changes/change.ts'
import type { Context } from '../../context.ts'
import { beginSession, type SignInPlace } from '../accounts/begin-session.ts'
import { signInOver } from '../accounts/factors/limits.ts'
import { findSecondStep } from '../accounts/factors/second-step.ts'
import { refuseMade } from '../accounts/maker.ts'
import { readPasswordRule } from '../accounts/password-rule.ts'
import { tellEnded } from '../accounts/sessions.ts'
import { sourceOf } from '../accounts/sources.ts'
import { findStamp } from '../accounts/stamp.ts'
import { ForbiddenError } from '../errors.ts'
import { checkInvite, getInvite, useInvite } from '../people/invites.ts'
import { hashToken } from '../secrets/secrets.ts'
import { connect, connectedElsewhere, findConnected, noteUse } from './identities.ts'
import type { Arrived } from './logins.ts'
import { makeAccount, renewRole } from './made-accounts.ts'
import { getProviderRow } from './open-providers.ts'

interface Entering {
  id: number
  username: string
}

/** Begun sign-ins of one source in ten minutes: each makes the server look for the provider. */
const MOST_BEGUN = 60

/**
 * @returns the address at the provider
 * @throws ValidationError, NotFoundError, TooManyError, UnavailableError
 */
export async function beginProviderLogin(
  context: Context,
  { provider, invite }: z.infer<typeof ProviderLoginStart>,
  place: SignInPlace,
  key: string | undefined,
): Promise<string> {
  const { network } = sourceOf(place)
  context.begunLogins.check(network, MOST_BEGUN)
  context.begunLogins.add(network, 1)
  if (invite === null) return await context.providerLogins.begin(provider, key, { kind: 'login' })
  await checkInvite(context, invite, place)
  return await context.providerLogins.begin(provider, key, { kind: 'invite', hash: hashToken(invite) })
}

/**
 * @param key of the browser that began it; it binds the new session, too
 * @returns the session, or what the account asks for besides
 * @throws UnauthenticatedError, ForbiddenError, ConflictError, NotFoundError for a used link, TooManyError
 */
export async function finishProviderLogin(
  context: Context,
  ticket: string,
  place: SignInPlace,
  key: string | undefined,
): Promise<ProviderLogin> {
  const attempt = context.loginLimits.take(null, sourceOf(place), false)
  const arrived = await context.providerLogins.arrive(ticket, key)
  if (!arrived || arrived.purpose.kind === 'connect') throw signInOver()
  attempt.succeed()
  const { purpose, provider } = arrived
  const { id, username } =
    purpose.kind === 'invite'
      ? await acceptByProvider(context, purpose.hash, arrived, place)
      : await enter(context, arrived, place)
  await noteUse(context, arrived)
  const checked = { id, stamp: await getStamp(context, id, arrived) }
  const step = await findSecondStep(context, checked, place, key, provider)
  if (step) return { username, login: step }
  const entrant = { ...checked, username, providerId: provider }
  const { token, expiresIn } = await beginSession(context, entrant, place, key)
  return { username, login: { token, expires_in: expiresIn } }
}

/** The stamp comes first: a connection that ends after this makes another one. @throws UnauthenticatedError */
async function getStamp({ db }: Context, id: number, arrived: Arrived): Promise<string> {
  const stamp = await findStamp(db, id)
  const held = await findConnected(db, arrived)
  if (stamp === undefined || held?.user_id !== id) throw signInOver()
  return stamp
}

async function enter(context: Context, arrived: Arrived, place: SignInPlace): Promise<Entering> {
  const held = await findConnected(context.db, arrived)
  if (!held) return await makeAccount(context, arrived, place)
  if (held.is_disabled === 1)
    throw new ForbiddenError('Your account here is disabled. Ask an administrator.', 'disabled')
  // Who was invited keeps the role that an administrator gave.
  if (held.is_made_by_sign_in === 1) await renewRole(context, arrived, place)
  else await refuseMade(context.db, held.user_id)
  return { id: held.user_id, username: held.username }
}

/** Connects the account of a link with the one at the provider, in place of a password. */
async function acceptByProvider(
  context: Context,
  hash: string,
  arrived: Arrived,
  place: SignInPlace,
): Promise<Entering> {
  const { name } = await getProviderRow(context.db, arrived.provider)
  const { user_id: id, username, is_reset } = await getInvite(context.db, hash, context.clock())
  const what = is_reset === 1 ? `got in again by a link and ${name}` : `accepted the invitation by ${name}`
  const actor = personOf({ id, name: username }, place.address)
  const ended = await change(context, { actor, what }, async (tx) => {
    const held = await findConnected(tx, arrived)
    if (held && held.user_id !== id) throw connectedElsewhere(name)
    // A link ends the password of before, but for the one person who must have one.
    const isKept = is_reset === 0 || (await readPasswordRule(tx)) === id
    const value = await useInvite(context, tx, hash, isKept ? {} : { password_hash: null })
    // Anew where it was connected before: an account that a sign-in made is an invited one from now on.
    await connect(context, tx, id, arrived)
    return { value, touched: { people: [id] }, name: username }
  })
  tellEnded(context, ended)
  return { id, username }
}
