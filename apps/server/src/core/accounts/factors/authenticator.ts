import { MESSAGES } from '@postern/contract/messages'
import type { AuthenticatorStart, CodeForm, GivenCodes } from '@postern/contract/sign-in/factors'
import { type Actor, personOf } from '../../../changes/actor.ts'
import { change, changeIfAny, Unchanged } from '../../../changes/change.ts'
import type { Context } from '../../../context.ts'
import { ValidationError } from '../../errors.ts'
import { PLACES } from '../../secrets/secrets.ts'
import type { Session } from '../sessions.ts'
import { type Confirmed, requireConfirmed } from '../stamp.ts'
import { giveFirstCodes } from './factors.ts'
import { useRecoveryCode } from './recovery-codes.ts'
import { AuthenticatorStep, STEP_SECONDS } from './step-tokens.ts'
import { authenticatorUri, findStep, toBase32 } from './totp.ts'

/** As long as the hash, as RFC 4226 advises. */
const SECRET_BYTES = 20

/** A secret for an app, which counts once `confirmAuthenticator` has got a code of it. */
export function beginAuthenticator(
  { randomBytes, stepTokens, config }: Context,
  { username }: Session,
  confirmed: Confirmed,
): AuthenticatorStart {
  const bytes = randomBytes(SECRET_BYTES)
  const secret = toBase32(bytes)
  const step = { confirmed, secret: bytes.toString('base64url') }
  return {
    secret: secret.toUpperCase(),
    uri: authenticatorUri(secret, username, config.publicHost),
    ticket: stepTokens.seal('new authenticator', STEP_SECONDS, step),
  }
}

/** Takes the place of an app from before. @throws ValidationError, and what `requireConfirmed` throws */
export async function confirmAuthenticator(
  context: Context,
  actor: Actor,
  { sessionId, userId }: Session,
  { ticket, code }: CodeForm,
): Promise<GivenCodes> {
  const { data: step } = AuthenticatorStep.safeParse(context.stepTokens.open('new authenticator', ticket))
  if (step?.confirmed.sessionId !== sessionId)
    throw new ValidationError([{ field: 'ticket', message: 'Begin again: this took too long' }])
  const now = context.clock()
  const last_step = findStep(Buffer.from(step.secret, 'base64url'), code, now)
  if (last_step === undefined) throw new ValidationError([{ field: 'code', message: MESSAGES.wrongCode }])
  const secret = context.secrets.seal(step.secret, PLACES.authenticator(userId))
  const row = { secret, last_step, created_at: new Date(now).toISOString(), used_at: null }
  const note = { actor, what: 'second factor added' }
  return await change(context, note, async (tx) => {
    await requireConfirmed(tx, step.confirmed)
    const recoveryCodes = await giveFirstCodes(tx, userId, context.randomBytes)
    await tx.deleteFrom('authenticators').where('user_id', '=', userId).execute()
    await tx
      .insertInto('authenticators')
      .values({ user_id: userId, ...row })
      .execute()
    return { value: { recoveryCodes }, touched: {}, name: 'authenticator app' }
  })
}

/** Whether it is a code of the account's app that was not used before; it is used then. */
export async function useAuthenticator(
  { db, secrets, clock }: Context,
  { id }: { id: number },
  code: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('authenticators')
    .select('secret')
    .where('user_id', '=', id)
    .executeTakeFirst()
  if (!row) return false
  const now = clock()
  const secret = Buffer.from(secrets.open(row.secret, PLACES.authenticator(id)), 'base64url')
  const step = findStep(secret, code, now)
  if (step === undefined) return false
  const { numUpdatedRows } = await db
    .updateTable('authenticators')
    .set({ last_step: step, used_at: new Date(now).toISOString() })
    .where('user_id', '=', id)
    .where('last_step', '<', step)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Whether it is one of the account's recovery codes; it is used up then. */
export async function useRecovery(
  context: Context,
  { id, username }: { id: number; username: string },
  code: string,
  address: string,
): Promise<boolean> {
  const actor = personOf({ id, name: username }, address)
  return await changeIfAny(context, { actor, what: 'recovery code used' }, async (tx) => {
    if (!(await useRecoveryCode(tx, id, code))) throw new Unchanged(false)
    return { value: true, touched: {} }
  })
}
