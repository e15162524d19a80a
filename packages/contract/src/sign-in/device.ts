import * as z from 'zod/mini'
import { apiTokenFields } from '../api-tokens.ts'
import * as f from '../fields.ts'
import { MESSAGES, missing } from '../messages.ts'
import { checkReach } from '../people/people.ts'

/** Signing in a command by a browser, after RFC 8628: its terms, its times, and answers in the API's own form. */
export const DEVICE = {
  /** How long a person has to approve. */
  seconds: 600,
  /** Between two polls; each one that comes too early makes it longer by `slowDown`. */
  interval: 2,
  slowDown: 5,
  /** No vowels, so that no code is a word, and no letter is taken for a digit (RFC 8628, 6.1). */
  letters: 'BCDFGHJKLMNPQRSTVWXZ',
  /** Of the code that a person types. */
  length: 8,
} as const

/** `client`: what the machine calls itself. Nobody checks it. */
export const DeviceStart = z.strictObject({ client: f.name })

/** `device_code` is the command's secret. The person opens `verification_uri` and enters `user_code`. */
export const DeviceCodes = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  /** In seconds, like `interval`. */
  expires_in: z.number(),
  interval: z.number(),
})
export type DeviceCodes = z.infer<typeof DeviceCodes>

export const DevicePoll = z.strictObject({
  device_code: z
    .string(missing(MESSAGES.required))
    .check(z.minLength(1, MESSAGES.required), z.maxLength(100)),
})

/**
 * How far it is. `slow_down`: wait `interval` seconds from now on. `approved` comes once, with an API token of the
 * person. `over`: it was not approved in time, the token was given out before, or the server does not know it.
 */
export const DeviceProgress = z.discriminatedUnion('state', [
  z.object({ state: z.literal('pending') }),
  z.object({ state: z.literal('slow_down'), interval: z.number() }),
  z.object({ state: z.literal('denied') }),
  z.object({ state: z.literal('over') }),
  z.object({ state: z.literal('approved'), token: z.string() }),
])
export type DeviceProgress = z.infer<typeof DeviceProgress>

/** As a person types it: in any case, with or without its hyphen. It comes out as letters alone. */
export const userCode = z.string(missing(MESSAGES.required)).check(
  z.overwrite((text) => text.replace(/[\s-]/g, '').toUpperCase()),
  z.minLength(1, MESSAGES.required),
  z.regex(new RegExp(`^[${DEVICE.letters}]{${DEVICE.length}}$`), MESSAGES.userCode),
)

/** `WDJBMJHT` as people read it: `WDJB-MJHT`. */
export function groupUserCode(letters: string): string {
  return `${letters.slice(0, DEVICE.length / 2)}-${letters.slice(DEVICE.length / 2)}`
}

export const UserCode = z.strictObject({ code: userCode })

/** What waits with a code: whatever it says of itself, and where it asked from. */
export const DeviceRequest = z.object({
  client: z.string(),
  /** The code in its one spelling, to compare with the one that the command shows. */
  code: z.string(),
  /** An IP address; null: unknown, as for programs on the server's own machine. */
  address: z.nullable(z.string()),
  /** Whether the person who reads this comes from the same network. */
  isSameNetwork: z.boolean(),
  askedAt: f.time,
  endsAt: f.time,
})
export type DeviceRequest = z.infer<typeof DeviceRequest>

/** An API token's form, and the code of what gets the token. */
export const DeviceApproval = z
  .strictObject({ ...apiTokenFields, code: userCode })
  .check(z.superRefine(checkReach, f.together))
export type DeviceApproval = z.infer<typeof DeviceApproval>
export type DeviceApprovalInput = z.input<typeof DeviceApproval>
