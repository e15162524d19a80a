import { type FieldError, toFieldErrors } from '@postern/contract/errors'
import * as z from 'zod/mini'
import { ConflictError, ValidationError } from './errors.ts'

/**
 * What a form sent. It is laid over the record, or over nothing for a new one, also inside the transaction that writes
 * it, so that two patches of different fields keep each other's values.
 */
export interface Patch<F> {
  /**
   * The whole form: fields absent from the patch keep their value, null or "" clears.
   * @throws ConflictError when the patch was made from an older record, ValidationError with all errors.
   */
  onto(current: Record<string, unknown>, updatedAt?: string): F
  /**
   * The same for callers with rules of their own: what is wrong so far, and the fields that are right.
   * @throws ConflictError when the patch was made from an older record
   */
  read(current: Record<string, unknown>, updatedAt?: string): { values: Partial<F>; errors: FieldError[] }
}

/** @param seen when the record that the form showed was updated, if the form says so */
export function createPatch<S extends z.ZodMiniObject>(
  schema: S,
  fields: Record<string, unknown>,
  seen?: unknown,
): Patch<z.output<S>> {
  const lay = (current: Record<string, unknown>, updatedAt: string | undefined) => {
    if (seen !== undefined && seen !== null && seen !== updatedAt)
      throw new ConflictError('Someone else changed this while you were editing', [], 'stale')
    const form = { ...current, ...fields }
    const result = schema.safeParse(form)
    return { form, result, errors: result.success ? [] : toFieldErrors(result.error.issues, form) }
  }
  return {
    onto(current, updatedAt) {
      const { result, errors } = lay(current, updatedAt)
      if (!result.success) throw new ValidationError(errors)
      return result.data
    },
    read(current, updatedAt) {
      const { form, result, errors } = lay(current, updatedAt)
      if (result.success) return { values: result.data, errors }
      const wrong = new Set(errors.map(({ field }) => field.split('.')[0]))
      const right = Object.entries(schema.shape).flatMap(([key, field]) => {
        const parsed = wrong.has(key) ? undefined : z.safeParse(field, form[key])
        return parsed?.success ? [[key, parsed.data]] : []
      })
      // Each value is what the schema of its field made of it.
      return { values: Object.fromEntries(right) as Partial<z.output<S>>, errors }
    },
  }
}
