import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { MESSAGES, missing } from '../messages.ts'
import { Login, Reach, Role } from '../sign-in/auth.ts'
import { PEOPLE_MESSAGES } from './messages.ts'

/** The history names nodes and edges so. */
const NAME_OF_A_PROGRAM = /^(?:(?:node|edge) \d+|nobody)$/i

export const personName = f.name.check(
  z.refine((text) => !NAME_OF_A_PROGRAM.test(text), PEOPLE_MESSAGES.nameOfAProgram),
)

/** A password that somebody chooses. Spaces count, also those at its ends. */
export const newPassword = z
  .string(missing(MESSAGES.required))
  .check(
    z.minLength(1, { error: MESSAGES.required, abort: true }),
    z.minLength(LIMITS.passwordLeast, PEOPLE_MESSAGES.shortPassword),
    z.maxLength(LIMITS.passwordLength),
  )

const pickedId = z.int(PEOPLE_MESSAGES.pick).check(z.positive(PEOPLE_MESSAGES.pick))

/** The nodes and domains that somebody, or something, is limited to; null: to nothing. */
export const ReachForm = f.blankable(
  z.strictObject({
    nodes: f.listOf(pickedId, LIMITS.reachEntries),
    domains: f.listOf(pickedId, LIMITS.reachEntries),
  }),
)

const personFields = { username: personName, role: Role, reach: ReachForm }

/** What an administrator decides about a person. */
export const PersonForm = z.strictObject(personFields).check(z.superRefine(checkReach, f.together))
export type PersonForm = z.infer<typeof PersonForm>
export type PersonFormInput = z.input<typeof PersonForm>

/** Where the link is sent, besides being shown; it is stored nowhere. */
export const LinkForm = z.strictObject({ email: f.blankable(f.email) })
export type LinkForm = z.infer<typeof LinkForm>

export const InviteForm = z
  .strictObject({ ...personFields, ...LinkForm.shape })
  .check(z.superRefine(checkReach, f.together))
export type InviteForm = z.infer<typeof InviteForm>
export type InviteFormInput = z.input<typeof InviteForm>

/** A rule for forms with `role` and `reach`. Other fields may be wrong themselves. */
export function checkReach({ role, reach }: Record<string, unknown>, found: z.core.$RefinementCtx): void {
  const limits = Reach.safeParse(reach ?? null).data
  if (!limits) return
  const say = (message: string) =>
    found.addIssue({ code: 'custom', path: ['reach', 'nodes'], message, input: limits.nodes })
  if (role === 'admin') say(PEOPLE_MESSAGES.limitedAdmin)
  else if (limits.nodes.length + limits.domains.length === 0) say(PEOPLE_MESSAGES.emptyReach)
}

/** Invited: has not yet used the link. Disabled: cannot sign in, and an open link is of no use. */
export const PersonState = z.enum(['invited', 'active', 'disabled'])
export type PersonState = z.infer<typeof PersonState>

/** A link that is open or has expired; it is never shown again. `isReset`: it is for a person who was in before. */
export const InviteInfo = z.object({ isReset: z.boolean(), endsAt: f.time })

export const Person = z.object({
  id: z.number(),
  username: z.string(),
  role: Role,
  reach: Reach,
  /** The names of what `reach` lists, in its order; null like it. */
  reachNames: z.nullable(z.object({ nodes: z.array(z.string()), domains: z.array(z.string()) })),
  state: PersonState,
  invite: z.nullable(InviteInfo),
  /** Whether the account asks for more than a password. */
  hasFactor: z.boolean(),
  lastSignInAt: z.nullable(f.time),
  /** How many sessions are open. */
  sessions: z.number(),
  /** How many API tokens are good for something. */
  apiTokens: z.number(),
  /** How many accounts at providers are connected. */
  identities: z.number(),
  /** How many passkeys there are. */
  passkeys: z.number(),
  created_at: f.time,
  updated_at: f.time,
})
export type Person = z.infer<typeof Person>
export const PersonList = z.array(Person)

/** How many accounts at providers were disconnected. */
export const Disconnected = z.object({ disconnected: z.number() })

/** `token`: the secret part of the link, shown only in this answer: `/invite#<token>` at the console. */
export const InvitedPerson = z.extend(Person, {
  token: z.string(),
  /** What became of the e-mail with the link; null: none was asked for. */
  mail: z.nullable(z.enum(['sent', 'failed'])),
  /** Why it failed, in words. */
  mailProblem: z.nullable(z.string()),
})
export type InvitedPerson = z.infer<typeof InvitedPerson>

const inviteToken = z
  .string(missing(MESSAGES.required))
  .check(z.minLength(1, MESSAGES.required), z.maxLength(100))

export const InviteToken = z.strictObject({ token: inviteToken })

/** What a link says to the person who opens it. `mayUsePassword`: otherwise they choose a provider instead of a password. */
export const OpenInvite = z.object({
  username: z.string(),
  role: Role,
  isReset: z.boolean(),
  mayUsePassword: z.boolean(),
  endsAt: f.time,
})
export type OpenInvite = z.infer<typeof OpenInvite>

export const AcceptForm = z.strictObject({ token: inviteToken, password: newPassword })

/** `login`: the session; null for an account with a second factor, which signs in with the new password now. */
export const Accepted = z.object({ username: z.string(), login: z.nullable(Login) })
