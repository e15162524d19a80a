import { blankable, name, together } from '@postern/contract/fields'
import { checkReach, ReachForm } from '@postern/contract/people/people'
import { Role } from '@postern/contract/sign-in/auth'
import { confirmingPassword } from '@postern/contract/sign-in/confirmation'
import * as z from 'zod/mini'
import { lastDay } from '../token-values.ts'

/** The form of a program's token, with a typed day; the output is the server's input. */
export const ApiTokenSchema = z
  .strictObject({
    name,
    role: Role,
    reach: ReachForm,
    expireAt: blankable(lastDay),
    password: confirmingPassword,
  })
  .check(z.superRefine(checkReach, together))
