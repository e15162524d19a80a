import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { MESSAGES, missing } from '../messages.ts'
import { Login } from './auth.ts'
import { confirmingPassword } from './confirmation.ts'
import { Credential, PasskeyRequest } from './second-step.ts'

/** Bytes as WebAuthn's JSON has them, without padding. */
const bytes = (max: number) =>
  z.string(missing(MESSAGES.required)).check(z.regex(/^[\w-]+$/), z.maxLength(max))

/** What a browser passes back without looking into it: sealed, and good for a few minutes. */
const sealed = z
  .string(missing(MESSAGES.required))
  .check(z.minLength(1, MESSAGES.required), z.maxLength(4096))

/** What `navigator.credentials.create` takes. */
export const PasskeyCreation = z.object({
  challenge: z.string(),
  timeout: z.number(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ alg: z.number(), type: z.literal('public-key') })),
  excludeCredentials: z.array(Credential),
  authenticatorSelection: z.object({
    residentKey: z.literal('required'),
    requireResidentKey: z.literal(true),
    userVerification: z.literal('required'),
  }),
  attestation: z.literal('none'),
})
export type PasskeyCreation = z.infer<typeof PasskeyCreation>

/** What a browser's passkey answers to a request. Browsers add more, of which nothing is read. */
export const PasskeyAnswer = z.object({
  id: bytes(2048),
  rawId: bytes(2048),
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: bytes(8192),
    authenticatorData: bytes(8192),
    signature: bytes(8192),
    userHandle: z.nullish(bytes(128)),
  }),
})
export type PasskeyAnswer = z.infer<typeof PasskeyAnswer>

/** A new passkey, as a browser made it. */
export const NewPasskey = z.object({
  id: bytes(2048),
  rawId: bytes(2048),
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: bytes(8192),
    attestationObject: bytes(65_536),
    transports: z.nullish(z.array(z.string().check(z.regex(/^[a-z-]{1,32}$/))).check(z.maxLength(10))),
  }),
})
export type NewPasskey = z.infer<typeof NewPasskey>

/** `code`: the six digits of an authenticator app, or a recovery code. */
export const CodeForm = z.strictObject({ ticket: sealed, code: f.code })
export type CodeForm = z.infer<typeof CodeForm>

export const PasskeyForm = z.strictObject({ ticket: sealed, answer: PasskeyAnswer })
export type PasskeyForm = z.infer<typeof PasskeyForm>

/** A session that a passkey opened, and of whom. */
export const PasskeyLogin = z.extend(Login, { username: z.string() })

/** Begins a sign-in by a passkey alone. */
export const PasskeyStart = z.object({ ticket: z.string(), passkey: PasskeyRequest })
export type PasskeyStart = z.infer<typeof PasskeyStart>

export const Passkey = z.object({
  id: z.number(),
  name: z.string(),
  /** The name of the console's address at which it works. */
  host: z.string(),
  created_at: f.time,
  /** Null: never used to sign in. */
  used_at: z.nullable(f.time),
})
export type Passkey = z.infer<typeof Passkey>

/** The second factors of an account. */
export const Factors = z.object({
  /** The authenticator app; null: none. */
  authenticator: z.nullable(z.object({ created_at: f.time, used_at: z.nullable(f.time) })),
  passkeys: z.array(Passkey),
  /** How many recovery codes are left. */
  recoveryCodes: z.number(),
  /** Whether the installation requires a second factor of this person. */
  isRequired: z.boolean(),
  /** Whether the account has a password, which then goes with each change of its factors. */
  hasPassword: z.boolean(),
  /** The name at which new passkeys work; null: none can be made at this address, as it is not a name of the console. */
  passkeyHost: z.nullable(z.string()),
})
export type Factors = z.infer<typeof Factors>

export const Confirmation = z.strictObject({ password: confirmingPassword })
export type Confirmation = z.infer<typeof Confirmation>

/** The secret of a new authenticator app, which counts once a code of it has been given with the ticket. */
export const AuthenticatorStart = z.object({
  /** In base32, as it is typed. */
  secret: z.string(),
  /** `otpauth://totp/…`, as a QR code has it. */
  uri: z.string(),
  ticket: z.string(),
})
export type AuthenticatorStart = z.infer<typeof AuthenticatorStart>

export const NewPasskeyStart = z.object({ ticket: z.string(), passkey: PasskeyCreation })
export type NewPasskeyStart = z.infer<typeof NewPasskeyStart>

export const PasskeyNameForm = z.strictObject({ name: f.name })
export type PasskeyNameForm = z.infer<typeof PasskeyNameForm>
export const NewPasskeyForm = z.strictObject({ ticket: sealed, name: f.name, passkey: NewPasskey })
export type NewPasskeyForm = z.infer<typeof NewPasskeyForm>

/** New recovery codes, shown only now; null: those from before stay. */
export const GivenCodes = z.object({ recoveryCodes: z.nullable(z.array(z.string())) })
export type GivenCodes = z.infer<typeof GivenCodes>
