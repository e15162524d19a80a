import type { Passkey, PasskeyAnswer } from '@postern/contract/sign-in/factors'
import type { PasskeyRequest } from '@postern/contract/sign-in/second-step'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import type { Actor } from '../../../changes/actor.ts'
import { change } from '../../../changes/change.ts'
import type { Context } from '../../../context.ts'
import { NotFoundError } from '../../errors.ts'
import { isSameHash } from '../../secrets/secrets.ts'
import { refuseLastWayIn } from '../password-rule.ts'
import type { Session } from '../sessions.ts'
import { type Confirmed, requireConfirmed } from '../stamp.ts'
import { settleLast } from './factors.ts'
import type { RelyingParty } from './relying-party.ts'
import { STEP_SECONDS } from './step-tokens.ts'

export const PASSKEYS_NOT_HERE =
  'Passkeys work only at a name of this console, not at this address. Sign in with your password.'

export interface KnownKey {
  id: string
  transports: string[]
}

/** The account's passkeys that work there. */
export async function listKeysAt(
  { db }: Pick<Context, 'db'>,
  userId: number,
  { id }: RelyingParty,
): Promise<KnownKey[]> {
  const rows = await db
    .selectFrom('passkeys')
    .select(['credential', 'transports'])
    .where('user_id', '=', userId)
    .where('host', '=', id)
    .orderBy('id')
    .execute()
  return rows.map(({ credential, transports }) => ({ id: credential, transports: JSON.parse(transports) }))
}

/** @param known empty: any passkey of this site that the person chooses */
export function requestOf(
  { id }: RelyingParty,
  challenge: string,
  known: readonly KnownKey[],
): PasskeyRequest {
  const allowCredentials = known.map((key) => ({ ...key, type: 'public-key' as const }))
  return {
    challenge,
    timeout: STEP_SECONDS * 1000,
    rpId: id,
    allowCredentials,
    userVerification: 'required',
  }
}

interface Wanted {
  challenge: string
  party: RelyingParty
  /** Undefined: the account that the passkey names. */
  userId: number | undefined
}

/** @returns the account whose passkey has answered; undefined when none has, for whatever reason */
export async function verifyPasskey(
  { db, clock, log }: Context,
  answer: PasskeyAnswer,
  { challenge, party, userId }: Wanted,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('passkeys')
    .selectAll()
    .where('credential', '=', answer.id)
    .where('host', '=', party.id)
    .executeTakeFirst()
  const { userHandle } = answer.response
  // A passkey that finds the account by itself must name it; as a second factor it may.
  const isTheirs = row && (userId === undefined ? userHandle != null : row.user_id === userId)
  if (!isTheirs || (userHandle != null && !isSameHash(userHandle, row.user_handle))) return undefined
  const counter = await findCounter(answer, { challenge, party }, row).catch((error: unknown) => {
    // The library throws at whatever is not right; its words hold nothing secret.
    log.info({ reason: error instanceof Error ? error.message : '' }, 'a passkey was refused')
    return undefined
  })
  if (counter === undefined) return undefined
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ counter, used_at: new Date(clock()).toISOString() })
    .where('id', '=', row.id)
    // Unless another answer of it came first.
    .where('counter', '=', row.counter)
    .executeTakeFirst()
  return numUpdatedRows === 1n ? row.user_id : undefined
}

/** Its new counter, if the signature and all that it is about are right. */
async function findCounter(
  { id, rawId, type, response }: PasskeyAnswer,
  { challenge, party }: Omit<Wanted, 'userId'>,
  row: { credential: string; public_key: string; counter: number },
): Promise<number | undefined> {
  const { clientDataJSON, authenticatorData, signature } = response
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      ...{ id, rawId, type, clientExtensionResults: {} },
      response: { clientDataJSON, authenticatorData, signature },
    },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: row.credential,
      publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
      counter: row.counter,
    },
  })
  return verified ? authenticationInfo.newCounter : undefined
}

const SHOWN = ['id', 'name', 'host', 'created_at', 'used_at'] as const

/** @throws NotFoundError */
export async function renamePasskey(
  context: Context,
  actor: Actor,
  { userId }: Session,
  id: number,
  name: string,
): Promise<Passkey> {
  return await change(context, { actor, what: 'passkey renamed' }, async (tx) => {
    const passkey = await tx
      .updateTable('passkeys')
      .set({ name })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returning(SHOWN)
      .executeTakeFirst()
    if (!passkey) throw new NotFoundError('Passkey')
    return { value: passkey, touched: {}, name }
  })
}

/** @throws NotFoundError, ConflictError when it is the last required factor */
export async function removePasskey(
  context: Context,
  actor: Actor,
  session: Session,
  confirmed: Confirmed,
  id: number,
): Promise<void> {
  await change(context, { actor, what: 'second factor removed' }, async (tx) => {
    await requireConfirmed(tx, confirmed)
    const passkey = await tx
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .where('user_id', '=', session.userId)
      .returning('name')
      .executeTakeFirst()
    if (!passkey) throw new NotFoundError('Passkey')
    await settleLast(context, tx, session)
    await refuseLastWayIn(tx, session.userId)
    return { value: undefined, touched: {}, name: `passkey ${passkey.name}` }
  })
}
