import { MESSAGES } from '@postern/contract/messages'
import * as z from 'zod/mini'

/** A form with a password that is typed without being seen, and so twice: `repeated` must be like the field `name`. */
export function passwordTwice<S extends z.core.$ZodShape>(shape: S, name: keyof S & string) {
  return z.strictObject({ ...shape, repeated: z.string().check(z.minLength(1, MESSAGES.required)) }).check(
    z.superRefine((form: Record<string, unknown>, found) => {
      if (form.repeated !== form[name])
        found.addIssue({ code: 'custom', path: ['repeated'], message: DIFFERENT, input: form.repeated })
    }),
  )
}

const DIFFERENT = 'The two are different. Type the same password.'
