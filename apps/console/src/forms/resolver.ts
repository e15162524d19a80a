import { toFieldErrors } from '@postern/contract/errors'
import { type FieldError, type FieldErrors, type FieldValues, type Resolver, set } from 'react-hook-form'
import type * as z from 'zod/mini'

/**
 * Checks a form with the contract's schema, so that the console and the server say the same words.
 * An empty number is null in a form and absent for the schema, whose default then counts.
 */
export function schemaResolver<In extends FieldValues, Out>(
  schema: z.ZodMiniType<Out, In>,
): Resolver<In, unknown, Out> {
  return (values) => {
    const result = schema.safeParse(withoutNulls(values))
    if (result.success) return { values: result.data, errors: {} }
    const errors: FieldErrors<In> = {}
    for (const { field, message } of toFieldErrors(result.error.issues)) {
      const error: FieldError = { type: 'contract', message }
      set(errors, field, error)
    }
    return { values: {}, errors }
  }
}

function withoutNulls(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}
