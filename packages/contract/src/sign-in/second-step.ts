import * as z from 'zod/mini'
import { Login } from './auth.ts'

/** A passkey, as WebAuthn's JSON names one. */
export const Credential = z.object({
  id: z.string(),
  type: z.literal('public-key'),
  transports: z.optional(z.array(z.string())),
})

/** What a browser's `navigator.credentials.get` takes, in WebAuthn's JSON; the bytes are base64url. */
export const PasskeyRequest = z.object({
  challenge: z.string(),
  /** ms. */
  timeout: z.number(),
  rpId: z.string(),
  /** Empty: any passkey of this site that the person chooses. */
  allowCredentials: z.array(Credential),
  userVerification: z.literal('required'),
})
export type PasskeyRequest = z.infer<typeof PasskeyRequest>

/** `code`: of an authenticator app. `passkey`. `recovery`: one of the ten recovery codes. */
export const FactorKind = z.enum(['code', 'passkey', 'recovery'])
export type FactorKind = z.infer<typeof FactorKind>

/**
 * The password was right, and a second factor is wanted besides. `ticket` goes with it into the second call, from the
 * same network and browser; `expires_in` is in seconds.
 */
export const SecondStep = z.object({
  second_factor: z.object({
    kinds: z.array(FactorKind),
    ticket: z.string(),
    expires_in: z.number(),
    /** For a passkey, where the account has one for this address. */
    passkey: z.nullable(PasskeyRequest),
  }),
})
export type SecondStep = z.infer<typeof SecondStep>

/** A session, or for an account with a second factor the next step. */
export const LoginAnswer = z.union([Login, SecondStep])
export type LoginAnswer = z.infer<typeof LoginAnswer>
