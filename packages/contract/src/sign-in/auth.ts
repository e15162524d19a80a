import * as z from 'zod/mini'
import { LIMITS } from '../limits.ts'
import { MESSAGES, missing } from '../messages.ts'

const credential = (max: number) =>
  z.string(missing(MESSAGES.required)).check(z.minLength(1, MESSAGES.required), z.maxLength(max))

export const LoginForm = z.strictObject({
  username: credential(LIMITS.nameLength),
  password: credential(LIMITS.passwordLength),
})
export type LoginForm = z.infer<typeof LoginForm>

/** `expires_in` is in seconds. */
export const Login = z.object({ token: z.string(), expires_in: z.number() })
export type Login = z.infer<typeof Login>

/** The credential in the addresses of streams, which opens nothing else; `expires_in` is in seconds. */
export const Ticket = z.object({ ticket: z.string(), expires_in: z.number() })
export type Ticket = z.infer<typeof Ticket>

/**
 * The header with the second half of a session's credential. A client that sends it with the sign-in gets a session bound
 * to it, and sends it with every call from then on. At least 128 random bits, printable.
 */
export const SESSION_KEY_HEADER = 'x-postern-key'

/**
 * What a person may do: each endpoint lists the roles that may call it. An admin may do everything, an editor changes
 * nodes, their tokens, domains and services, and a viewer sees everything but secrets.
 */
export const Role = z.enum(['admin', 'editor', 'viewer'])
export type Role = z.infer<typeof Role>
export const ROLES: readonly Role[] = Role.options

/** The nodes, with their services and tokens, and the domains that a person is limited to; null: to nothing. */
export const Reach = z.nullable(z.strictObject({ nodes: z.array(z.number()), domains: z.array(z.number()) }))
export type Reach = z.infer<typeof Reach>

export const Account = z.object({ id: z.number(), username: z.string(), role: Role, reach: Reach })
export type Account = z.infer<typeof Account>
