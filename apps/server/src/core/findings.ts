import type { FieldError } from '@postern/contract/errors'
import { ConflictError, ValidationError } from './errors.ts'

/** What is wrong with a form, under its fields: `invalid` by itself, `taken` by what is there already. */
export interface Findings {
  invalid: FieldError[]
  taken: FieldError[]
}

/** @throws ValidationError, or ConflictError when all else is right; both with everything that was found */
export function refuseFindings({ invalid, taken }: Findings): void {
  const wrong = new Set(invalid.map(({ field }) => field))
  if (invalid.length > 0)
    throw new ValidationError([...invalid, ...taken.filter(({ field }) => !wrong.has(field))])
  if (taken.length > 0) throw new ConflictError(taken.map(({ message }) => message).join('. '), taken)
}
