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
  read(current: Record<string, unknown>, updatedAt?: string): { values: Readable<F>; errors: FieldError[] }
}

/** What of a form can be read. Rows of several fields keep their places, so that errors are shown where they belong. */
export type Readable<F> = {
  [K in keyof F]?: F[K] extends readonly (infer Row extends object)[] ? Partial<Row>[] : F[K]
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
      const wrong = new Set(errors.map(({ field }) => field))
      const right = Object.entries(schema.shape).flatMap(([key, field]) => {
        const value = wrong.has(key) ? undefined : findReadable(field, form[key])
        return value === undefined ? [] : [[key, value]]
      })
      // Each value is what the schema of its field made of it.
      const values = result.success ? result.data : Object.fromEntries(right)
      return { values: values as Readable<z.output<S>>, errors }
    },
  }
}

/** What the schema makes of a value, or of the parts of rows that are right; undefined: nothing. */
function findReadable(schema: z.core.$ZodType, value: unknown): unknown {
  const parsed = z.safeParse(schema, value)
  if (parsed.success) return parsed.data
  const list = innermost(schema)
  const row = list instanceof z.core.$ZodArray ? list._zod.def.element : undefined
  if (!(row instanceof z.core.$ZodObject) || !Array.isArray(value)) return undefined
  const parts = Object.entries(row._zod.def.shape)
  return value.map((each) =>
    Object.fromEntries(parts.map(([key, part]) => [key, findReadable(part, partOf(each, key))])),
  )
}

function partOf(row: unknown, key: string): unknown {
  return typeof row === 'object' && row !== null ? Reflect.get(row, key) : undefined
}

/** Without what the contract wraps around it for blanks and defaults. */
function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.core.$ZodDefault) return innermost(schema._zod.def.innerType)
  return schema instanceof z.core.$ZodPipe ? innermost(schema._zod.def.out) : schema
}
