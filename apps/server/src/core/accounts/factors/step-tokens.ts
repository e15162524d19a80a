import * as z from 'zod/mini'

/**
 * What each step passes to the next one through the browser, sealed: nothing is stored, so nobody can fill the memory
 * with sign-ins.
 */
export type StepTokenKind = 'second step' | 'passkey sign-in' | 'new authenticator' | 'new passkey'

/** How long a person has for a step. */
export const STEP_SECONDS = 300

const Party = z.object({ id: z.string(), origin: z.string() })

/** Who has given a password, comes from a provider, or wants to sign in by a passkey alone. */
export const SignInStep = z.object({
  /** Its own, by which its tries are counted. */
  id: z.string(),
  /** Null: the account of the passkey that answers. */
  userId: z.nullable(z.number()),
  /** The provider by which the person signs in; null: none. */
  providerId: z.nullable(z.number()),
  /** Where it began, and the hash of the key that its session will be bound to. */
  network: z.string(),
  keyHash: z.nullable(z.string()),
  /** A hash of the stored password, which another one ends. */
  stamp: z.string(),
  challenge: z.string(),
  party: z.nullable(Party),
})
export type SignInStep = z.infer<typeof SignInStep>

/** Who has given the password for a new factor. */
const Confirmed = z.object({ id: z.number(), stamp: z.string(), sessionId: z.number() })
export const AuthenticatorStep = z.object({ confirmed: Confirmed, secret: z.string() })
export const PasskeyStep = z.object({
  confirmed: Confirmed,
  challenge: z.string(),
  party: Party,
  userHandle: z.string(),
})
export type PasskeyStep = z.infer<typeof PasskeyStep>
