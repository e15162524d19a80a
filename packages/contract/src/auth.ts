import * as z from 'zod/mini'
import { missing } from './fields.ts'
import { LIMITS } from './limits.ts'
import { MESSAGES } from './messages.ts'

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

export const Account = z.object({ id: z.number(), username: z.string(), role: z.literal('admin') })
export type Account = z.infer<typeof Account>
