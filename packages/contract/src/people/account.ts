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
