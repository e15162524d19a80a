import { LIMITS } from '@postern/contract/limits'
import type {
  GivenCodes,
  NewPasskey,
  NewPasskeyForm,
  NewPasskeyStart,
  Passkey,
} from '@postern/contract/sign-in/factors'
import { verifyRegistrationResponse } from '@simplewebauthn/server'
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers'
import type { Actor } from '../../../changes/actor.ts'
import { change } from '../../../changes/change.ts'
import type { Context } from '../../../context.ts'
import { ConflictError, ValidationError } from '../../errors.ts'
import type { Session } from '../sessions.ts'
import { type Confirmed, requireConfirmed } from '../stamp.ts'
import { giveFirstCodes } from './factors.ts'
import { findRelyingParty } from './relying-party.ts'
import { PasskeyStep, STEP_SECONDS } from './step-tokens.ts'

/** EdDSA, ES256 and RS256, as COSE numbers them: what passkeys have. */
const ALGORITHMS = [-8, -7, -257]

/**
 * What a browser makes a passkey from.
 * @param site the host of the request, with its port
 * @throws ConflictError where none can be made
 */
export async function beginPasskey(
  context: Context,
  { userId, username }: Session,
  confirmed: Confirmed,
  site: string,
): Promise<NewPasskeyStart> {
  const party = await findRelyingParty(context, site)
  if (!party)
    throw new ConflictError('A passkey needs a name: open the console at its name, not at this address')
  const known = await context.db
    .selectFrom('passkeys')
    .select(['credential', 'host', 'user_handle'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute()
  if (known.length >= LIMITS.passkeys)
    throw new ConflictError(`An account has at most ${LIMITS.passkeys} passkeys. Remove one first.`)
  const challenge = context.randomBytes(32).toString('base64url')
  const userHandle = known[0]?.user_handle ?? context.randomBytes(32).toString('base64url')
  const step: PasskeyStep = { confirmed, challenge, party, userHandle }
  return {
    ticket: context.stepTokens.seal('new passkey', STEP_SECONDS, step),
    passkey: {
      challenge,
      timeout: STEP_SECONDS * 1000,
      rp: { id: party.id, name: 'Postern' },
      user: { id: userHandle, name: username, displayName: username },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
      excludeCredentials: known
        .filter(({ host }) => host === party.id)
        .map(({ credential }) => ({ id: credential, type: 'public-key' })),
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      attestation: 'none',
    },
  }
}

/** @throws ValidationError, ConflictError, and what `requireConfirmed` throws */
export async function addPasskey(
  context: Context,
  actor: Actor,
  { sessionId, userId }: Session,
  { ticket, name, passkey }: NewPasskeyForm,
): Promise<GivenCodes & { passkey: Passkey }> {
  const { data: step } = PasskeyStep.safeParse(context.stepTokens.open('new passkey', ticket))
  if (step?.confirmed.sessionId !== sessionId) throw refusal('Begin again: this took too long')
  const key = await readKey(passkey, step).catch((error: unknown) => {
    context.log.info({ reason: error instanceof Error ? error.message : '' }, 'a new passkey was refused')
    return undefined
  })
  if (!key) throw refusal('This passkey cannot be used here')
  const row = {
    ...{ user_id: userId, name, used_at: null, host: step.party.id, user_handle: step.userHandle },
    credential: key.id,
    public_key: Buffer.from(key.publicKey).toString('base64url'),
    counter: key.counter,
    transports: JSON.stringify(passkey.response.transports ?? []),
    created_at: new Date(context.clock()).toISOString(),
  }
  return await change(context, { actor, what: 'second factor added' }, async (tx) => {
    await requireConfirmed(tx, step.confirmed)
    const taken = await tx
      .selectFrom('passkeys')
      .select('id')
      .where('credential', '=', key.id)
      .executeTakeFirst()
    if (taken) throw new ConflictError('This passkey is known already')
    const recoveryCodes = await giveFirstCodes(tx, userId, context.randomBytes)
    const added = await tx
      .insertInto('passkeys')
      .values(row)
      .returning(['id', 'name', 'host', 'created_at', 'used_at'])
      .executeTakeFirstOrThrow()
    return { value: { recoveryCodes, passkey: added }, touched: {}, name: `passkey ${name}` }
  })
}

function refusal(message: string): ValidationError {
  return new ValidationError([{ field: 'passkey', message }])
}

/** @throws Error from the library */
async function readKey({ id, rawId, type, response }: NewPasskey, { challenge, party }: PasskeyStep) {
  const { clientDataJSON, attestationObject } = response
  // Nobody asked who made it. The library would fetch what a certificate in it names.
  const statement = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
  const isPlain = ['none', 'packed'].includes(statement.get('fmt')) && !statement.get('attStmt').get('x5c')
  if (!isPlain) throw new Error('it comes with a certificate')
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      ...{ id, rawId, type, clientExtensionResults: {} },
      response: { clientDataJSON, attestationObject },
    },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  })
  return verified ? registrationInfo.credential : undefined
}
