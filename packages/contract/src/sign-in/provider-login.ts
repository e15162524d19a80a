import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { MESSAGES, missing } from '../messages.ts'
import { confirmingPassword } from './confirmation.ts'
import { LoginAnswer } from './second-step.ts'

/** Signing in to the console by a provider, and connecting one with an account. */

/** What the sign-in page offers below its form. Strangers read it. */
export const SignInWays = z.object({
  providers: z.array(z.object({ id: z.number(), name: z.string() })),
  /** The console's own address, the only one to which providers send people back, like `https://console.example.com`. */
  origin: z.string(),
})
export type SignInWays = z.infer<typeof SignInWays>

/** `invite`: the token of a link, whose account the sign-in is to be connected with. */
export const ProviderLoginStart = z.strictObject({
  provider: f.id,
  invite: f.blankable(z.string().check(z.maxLength(100))),
})

/** The address at the provider, to which the browser goes. */
export const ProviderAddress = z.object({ address: z.string() })

/**
 * What the browser has brought back, from the fragment of `/login#ticket=…` (or `/account#ticket=…`). It is worth
 * nothing without the key (`x-postern-key`) of the browser that began, and works once, for two minutes.
 */
export const ProviderTicket = z.strictObject({
  ticket: z.string(missing(MESSAGES.required)).check(z.minLength(1, MESSAGES.required), z.maxLength(8192)),
})

/** A session, or the next step of an account with a second factor; with the name of the account. */
export const ProviderLogin = z.object({ username: z.string(), login: LoginAnswer })
export type ProviderLogin = z.infer<typeof ProviderLogin>

/** A provider's account with which a person signs in. */
export const Identity = z.object({
  id: z.number(),
  provider: z.object({ id: z.number(), name: z.string() }),
  /** As the provider last said; null: it does not. */
  email: z.nullable(z.string()),
  connectedAt: f.time,
  lastUsedAt: z.nullable(f.time),
  /** Whether a sign-in by it made the account: then it is the only one, and stays. */
  isMade: z.boolean(),
})
export type Identity = z.infer<typeof Identity>
export const IdentityList = z.array(Identity)

export const IdentityStart = z.strictObject({ provider: f.id, password: confirmingPassword })
