import { toFieldErrors } from '@postern/contract/errors'
import type * as z from 'zod/mini'
import { ConflictError, ValidationError } from './errors.ts'

/**
 * What a PATCH sent. It is laid over the record inside the transaction that writes it, so that two
 * patches of different fields keep each other's values.
 */
export interface Patch<F> {
  /**
   * The whole form: fields absent from the patch keep their value, null or "" clears.
   * @throws ConflictError when the patch was made from an older record, ValidationError with all errors.
   */
  onto(current: Record<string, unknown>, updatedAt: string): F
}

export function createPatch<F>(schema: z.ZodMiniType<F>, body: Record<string, unknown>): Patch<F> {
  const { updated_at: seen, ...fields } = body
  return {
    onto(current, updatedAt) {
      if (seen !== undefined && seen !== null && seen !== updatedAt)
        throw new ConflictError('Someone else changed this while you were editing', [], 'stale')
      const form = { ...current, ...fields }
      const result = schema.safeParse(form)
      if (!result.success) throw new ValidationError(toFieldErrors(result.error.issues, form))
      return result.data
    },
  }
}
