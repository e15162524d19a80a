import { type FieldError, toFieldErrors } from '@postern/contract/errors'
import * as z from 'zod/mini'
import { ConflictError, ValidationError } from './errors.ts'

/**
 * The fields that a form sent. They are laid over the record, or over nothing for a new one, also inside the
 * transaction that writes it, so that two patches of different fields keep each other's values.
 */
export interface Patch<F> {
  /** Whether the form sent this field, even with the value that it has. */
  has(field: string): boolean
  /**
   * The whole form: fields absent from the patch keep their value, null or "" clears.
   * @throws ConflictError when the patch was made from an older record, ValidationError with all errors.
   */
  onto(current: Record<string, unknown>, updatedAt?: string): F
  /**
   * The same for callers with rules of their own: the errors so far, and the valid fields.
   * @throws ConflictError when the patch was made from an older record
   */
  read(current: Record<string, unknown>, updatedAt?: string): { values: Readable<F>; errors: FieldError[] }
}

/**
 * The fields of a form that can be parsed. Rows of several fields keep their places, so that errors are shown where
 * they belong.
 */
export type Readable<F> = {
  [K in keyof F]?: F[K] extends readonly (infer Row extends object)[] ? Partial<Row>[] : F[K]
}

/** @param seen when the record in the form was last updated, if the form has it */
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
    has: (field) => Object.hasOwn(fields, field),
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
      // Each value comes from the schema of its field.
      const values = result.success ? result.data : Object.fromEntries(right)
      return { values: values as Readable<z.output<S>>, errors }
    },
  }
}

/** The parsed value, or the valid parts of rows; undefined: none. */
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

/** Without the contract's wrappers for blanks and defaults. */
function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.core.$ZodDefault) return innermost(schema._zod.def.innerType)
  return schema instanceof z.core.$ZodPipe ? innermost(schema._zod.def.out) : schema
}
