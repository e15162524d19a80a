import { MESSAGES } from '@postern/contract/messages'
import type { CodeForm, PasskeyForm, PasskeyStart } from '@postern/contract/sign-in/factors'
import type { FactorKind, PasskeyRequest, SecondStep } from '@postern/contract/sign-in/second-step'
import type { Context } from '../../../context.ts'
import { ConflictError, UnauthenticatedError } from '../../errors.ts'
import { hashToken } from '../../secrets/secrets.ts'
import { type BegunSession, beginSession, type Entrant, type SignInPlace } from '../begin-session.ts'
import { refuseMade } from '../maker.ts'
import { isKnownSource, sourceOf } from '../sources.ts'
import { type Checked, stampOf } from '../stamp.ts'
import { takeTicket } from '../used-tickets.ts'
import { useAuthenticator, useRecovery } from './authenticator.ts'
import { signInOver } from './limits.ts'
import { listKeysAt, PASSKEYS_NOT_HERE, requestOf, verifyPasskey } from './passkeys.ts'
import { countRecoveryCodes } from './recovery-codes.ts'
import { findRelyingParty, type RelyingParty } from './relying-party.ts'
import { SignInStep, STEP_SECONDS } from './step-tokens.ts'

/**
 * The next step for a person whose password was right, or who comes from a provider.
 * @returns undefined when the account has no second factor
 */
export async function findSecondStep(
  context: Context,
  { id: userId, stamp }: Checked,
  place: SignInPlace,
  key: string | undefined,
  providerId: number | null = null,
): Promise<SecondStep | undefined> {
  const { db } = context
  const app = await db
    .selectFrom('authenticators')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const all = await db.selectFrom('passkeys').select('id').where('user_id', '=', userId).execute()
  if (!app && all.length === 0) return undefined
  const party = await findRelyingParty(context, place.site)
  const passkeys = party ? await listKeysAt(context, userId, party) : []
  const codes = await countRecoveryCodes(db, userId)
  const beginning = { userId, providerId, stamp, party: party ?? null }
  const { ticket, passkey } = begin(context, beginning, place, key, passkeys)
  const kinds: (FactorKind | false)[] = [
    passkeys.length > 0 && 'passkey',
    app !== undefined && 'code',
    codes > 0 && 'recovery',
  ]
  return {
    second_factor: {
      kinds: kinds.filter((kind) => kind !== false),
      ticket,
      expires_in: STEP_SECONDS,
      passkey: passkeys.length > 0 ? passkey : null,
    },
  }
}

/** The first step of a sign-in by a passkey alone. @throws ConflictError where none can be used */
export async function beginPasskeySignIn(
  context: Context,
  place: SignInPlace,
  key: string | undefined,
): Promise<PasskeyStart> {
  const party = await findRelyingParty(context, place.site)
  if (!party) throw new ConflictError(PASSKEYS_NOT_HERE)
  const { ticket, passkey } = begin(
    context,
    { userId: null, providerId: null, stamp: '', party },
    place,
    key,
    [],
  )
  // There is one where there is a party.
  return { ticket, passkey: passkey as PasskeyRequest }
}

/** @throws UnauthenticatedError, TooManyError */
export async function finishByCode(
  context: Context,
  { ticket, code }: CodeForm,
  place: SignInPlace,
  key: string | undefined,
): Promise<BegunSession> {
  const step = open(context, ticket, place, key)
  if (step.userId === null) throw signInOver()
  const user = await getUser(context, step.userId)
  if (user.stamp !== step.stamp) throw signInOver()
  const isShort = code.length === 6
  const succeed = await take(context, step, place, { user, isShort })
  const isRight = isShort
    ? await useAuthenticator(context, user, code)
    : await useRecovery(context, user, code, place.address)
  if (!isRight) throw new UnauthenticatedError(MESSAGES.wrongCode, 'factor')
  await succeed()
  return await beginSession(context, { ...user, providerId: step.providerId }, place, key)
}

/** @throws UnauthenticatedError, TooManyError */
export async function finishByPasskey(
  context: Context,
  { ticket, answer }: PasskeyForm,
  place: SignInPlace,
  key: string | undefined,
): Promise<BegunSession & { username: string }> {
  const step = open(context, ticket, place, key)
  if (!step.party) throw signInOver()
  const expected = step.userId === null ? undefined : await getUser(context, step.userId)
  if (expected && expected.stamp !== step.stamp) throw signInOver()
  const succeed = await take(context, step, place, { user: expected, isShort: false })
  // Before the answer is checked: a passkey that is removed meanwhile lets nobody in.
  const user = expected ?? (await findOwner(context, answer.id))
  const { challenge, party } = step
  const userId = await verifyPasskey(context, answer, { challenge, party, userId: expected?.id })
  if (userId === undefined) throw new UnauthenticatedError('This passkey is not known here', 'factor')
  if (user?.id !== userId) throw signInOver()
  await succeed()
  // After a provider it confirms; alone it would be another way in.
  if (step.providerId === null) await refuseMade(context.db, userId)
  const session = await beginSession(context, { ...user, providerId: step.providerId }, place, key)
  return { ...session, username: user.username }
}

interface Beginning extends Pick<SignInStep, 'userId' | 'providerId' | 'stamp'> {
  party: RelyingParty | null
}

function begin(
  { stepTokens, randomBytes }: Context,
  { userId, providerId, stamp, party }: Beginning,
  place: SignInPlace,
  key: string | undefined,
  passkeys: Parameters<typeof requestOf>[2],
) {
  const challenge = randomBytes(32).toString('base64url')
  const step: SignInStep = {
    id: randomBytes(12).toString('base64url'),
    ...{ userId, providerId },
    network: sourceOf(place).network,
    keyHash: key === undefined ? null : hashToken(key),
    ...{ stamp, challenge, party },
  }
  const kind = userId === null ? 'passkey sign-in' : 'second step'
  return {
    ticket: stepTokens.seal(kind, STEP_SECONDS, step),
    passkey: party && requestOf(party, challenge, passkeys),
  }
}

/** A ticket is of no use anywhere but where its sign-in began. */
function open(
  { stepTokens }: Context,
  ticket: string,
  place: SignInPlace,
  key: string | undefined,
): SignInStep {
  const { data: step } = SignInStep.safeParse(
    stepTokens.open('second step', ticket) ?? stepTokens.open('passkey sign-in', ticket),
  )
  const isHere =
    step?.network === sourceOf(place).network && step.keyHash === (key === undefined ? null : hashToken(key))
  if (!step || !isHere) throw signInOver()
  return step
}

async function take(
  context: Context,
  { id }: SignInStep,
  place: SignInPlace,
  { user, isShort }: { user: { id: number; username: string } | undefined; isShort: boolean },
): Promise<() => Promise<void>> {
  const source = sourceOf(place)
  const isKnown = user !== undefined && (await isKnownSource(context, user.username, source))
  const account = String(user?.id ?? 'any')
  const succeed = context.factorLimits.take({ id, account, source, isKnown, isShort })
  return async () => {
    succeed()
    if (!(await takeTicket(context, id, STEP_SECONDS))) throw signInOver()
  }
}

/** @throws UnauthenticatedError */
async function getUser({ db }: Context, id: number): Promise<Entrant> {
  const user = await selectUsers(db).where('id', '=', id).executeTakeFirst()
  if (!user) throw signInOver()
  return await toEntrant(db, user)
}

/** The person whose passkey this is. */
async function findOwner({ db }: Context, credential: string): Promise<Entrant | undefined> {
  const owner = db.selectFrom('passkeys').select('user_id').where('credential', '=', credential)
  const user = await selectUsers(db).where('id', 'in', owner).executeTakeFirst()
  return user && (await toEntrant(db, user))
}

function selectUsers(db: Context['db']) {
  return db.selectFrom('users').select(['id', 'username', 'password_hash']).where('is_disabled', '=', 0)
}

type Row = { id: number; username: string; password_hash: string | null }

async function toEntrant(db: Context['db'], { id, username, password_hash }: Row): Promise<Entrant> {
  return { id, username, stamp: await stampOf(db, { id, password_hash }) }
}
