import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { MESSAGES, missing } from '../messages.ts'
import { newPassword, personName } from './people.ts'

export const AccountForm = z.strictObject({ username: personName })

export const PasswordForm = z.strictObject({
  password: z
    .string(missing(MESSAGES.required))
    .check(z.minLength(1, MESSAGES.required), z.maxLength(LIMITS.passwordLength)),
  newPassword,
  /** Also ends one's API tokens: whoever knew the old password may have made some. */
  endTokens: z._default(z.boolean(), true),
  /** Also takes away all connected accounts at providers, of which some may be somebody else's. */
  disconnect: z._default(z.boolean(), true),
  /** Also removes all passkeys, for the same reason. */
  removePasskeys: z._default(z.boolean(), true),
})

/** A sign-in of one's own that has not ended. */
export const OwnSession = z.object({
  id: z.number(),
  /** The one that asks. */
  isThis: z.boolean(),
  /** In plain words, like `Firefox on Linux`; '' when it could not be told. */
  browser: z.string(),
  /** Where it was last used from; null: from the server's own machine, or unknown. */
  address: z.nullable(z.string()),
  lastUsedAt: f.time,
  beganAt: f.time,
  /** When it ends unless it is used before. */
  endsAt: f.time,
})
export type OwnSession = z.infer<typeof OwnSession>
export const OwnSessionList = z.array(OwnSession)

/** How many sessions were ended. */
export const EndedSessions = z.object({ ended: z.number() })

/** How many API tokens were ended. */
export const EndedTokens = z.object({ ended: z.number() })

/** How many other sessions and API tokens ended with the password, and what else was taken away. */
export const ChangedPassword = z.object({
  ended: z.number(),
  endedTokens: z.number(),
  removedPasskeys: z.number(),
  disconnected: z.number(),
})
