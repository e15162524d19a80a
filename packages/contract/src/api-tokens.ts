import * as z from 'zod/mini'
import * as f from './fields.ts'
import { checkReach, ReachForm } from './people/people.ts'
import { Reach, Role } from './sign-in/auth.ts'
import { confirmingPassword } from './sign-in/confirmation.ts'

/** The fields of a token of a program, wherever a person makes one, which needs their password. */
export const apiTokenFields = {
  name: f.name,
  role: Role,
  reach: ReachForm,
  expireAt: f.blankable(f.instant),
  password: confirmingPassword,
}

/**
 * What a person can set for a token of a program. `reach` null or absent: everything that the person may see. Without
 * `expireAt` the token ends after 90 days, and never later than after a year; a moment in the past by less than a day
 * is the beginning of today, as for tokens of nodes.
 */
export const ApiTokenForm = z.strictObject(apiTokenFields).check(z.superRefine(checkReach, f.together))
export type ApiTokenForm = z.infer<typeof ApiTokenForm>
export type ApiTokenFormInput = z.input<typeof ApiTokenForm>

/** A program's token, without its value. At each use its person's own rights limit it, too. */
export const ApiToken = z.object({
  id: z.number(),
  name: z.string(),
  role: Role,
  reach: Reach,
  expireAt: f.time,
  revoked: z.boolean(),
  /** In ms since the epoch; null: never. */
  lastUsed: z.nullable(z.number()),
  /** The IP address that this request came from; null: never used, or unknown. */
  lastUsedFrom: z.nullable(z.string()),
  created_at: f.time,
  updated_at: f.time,
})
export type ApiToken = z.infer<typeof ApiToken>

/** The answer to a creation: the token and, only here, its value. */
export const CreatedApiToken = z.extend(ApiToken, { token: z.string() })
export type CreatedApiToken = z.infer<typeof CreatedApiToken>

/** How long a token is valid at most, and without an end of its own. */
export const API_TOKEN_DAYS = { most: 366, usual: 90 } as const
