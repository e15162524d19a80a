import type { ApiToken } from '@postern/contract/api-tokens'
import { MESSAGES } from '@postern/contract/messages'
import {
  DEVICE,
  type DeviceApproval,
  type DeviceCodes,
  type DeviceRequest,
  groupUserCode,
} from '@postern/contract/sign-in/device'
import type { Actor } from '../../changes/actor.ts'
import { publicUrl } from '../../config.ts'
import type { Context } from '../../context.ts'
import { type Arrival, sourceOf, widerNetworksOf } from '../accounts/sources.ts'
import { ValidationError } from '../errors.ts'
import type { Patch } from '../patch.ts'
import { createApiToken, type Owner } from './tokens.ts'

/** In ten minutes. */
const BEGUN_PER_SOURCE = 20
const BEGUN_PER_WIDER_NETWORK = { 56: 60, 48: 120 } as const
/** Wrong codes in ten minutes, of one person and of all that come from one source. */
const WRONG_PER_PERSON = 10
const WRONG_PER_SOURCE = 30

/** @throws TooManyError, UnavailableError when too many wait */
export function beginDevice(context: Context, client: string, arrival: Arrival): DeviceCodes {
  const source = sourceOf(arrival)
  const { network } = source
  const wider = widerNetworksOf(source)
  const counts = [
    { key: `begun ${network}`, max: BEGUN_PER_SOURCE },
    ...wider.map((each) => ({
      key: `begun ${each.network}/${each.prefix}`,
      max: BEGUN_PER_WIDER_NETWORK[each.prefix],
    })),
  ]
  for (const { key, max } of counts) context.deviceAttempts.check(key, max)
  for (const { key } of counts) context.deviceAttempts.add(key, 1)
  const { deviceCode, userCode } = context.devices.begin({
    client,
    ...{ network, wider },
    address: arrival.address || null,
  })
  return {
    device_code: deviceCode,
    user_code: groupUserCode(userCode),
    // The installation's own, whatever host the command asked for.
    verification_uri: `${publicUrl(context.config)}/device`,
    expires_in: DEVICE.seconds,
    interval: DEVICE.interval,
  }
}

/** @throws ValidationError at `code` when nothing waits with it, TooManyError after many of these */
export function readDevice(context: Context, owner: Owner, code: string, arrival: Arrival): DeviceRequest {
  const found = guess(context, owner, arrival, () => context.devices.find(code))
  return {
    client: found.client,
    code: groupUserCode(code),
    address: found.address,
    isSameNetwork: found.network === sourceOf(arrival).network,
    askedAt: new Date(found.askedAt).toISOString(),
    endsAt: new Date(found.endsAt).toISOString(),
  }
}

/**
 * Makes a token like any other of the person, for the command that waits.
 * @throws TooManyError, and what `createApiToken` throws
 */
export async function approveDevice(
  context: Context,
  actor: Actor,
  owner: Owner,
  arrival: Arrival,
  patch: Patch<DeviceApproval>,
): Promise<ApiToken> {
  const { values, errors } = patch.read({})
  const { code } = values
  if (code === undefined) throw new ValidationError(errors)
  const answer = guess(context, owner, arrival, () => context.devices.take(code))
  try {
    const { token, ...made } = await createApiToken(context, actor, owner, patch, arrival)
    answer.give(token)
    return made
  } catch (error) {
    // The person corrects the form, and the command waits.
    answer.release()
    throw error
  }
}

/** @throws ValidationError at `code`, TooManyError */
export function denyDevice(context: Context, owner: Owner, code: string, arrival: Arrival): void {
  guess(context, owner, arrival, () => context.devices.take(code)).deny()
}

/** Counts codes with which nothing waits. */
function guess<T>(
  { deviceAttempts }: Context,
  { userId }: Owner,
  arrival: Arrival,
  find: () => T | undefined,
): T {
  const [person, source] = [`person ${userId}`, `source ${sourceOf(arrival).network}`]
  deviceAttempts.check(person, WRONG_PER_PERSON)
  deviceAttempts.check(source, WRONG_PER_SOURCE)
  const found = find()
  if (found !== undefined) return found
  for (const key of [person, source]) deviceAttempts.add(key, 1)
  throw new ValidationError([{ field: 'code', message: MESSAGES.unknownUserCode }])
}
