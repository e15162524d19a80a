import * as z from 'zod/mini'
import { LIMITS } from './limits.ts'

/** A number of things in a query. */
export const count = (max: number) =>
  z.pipe(
    z.string().check(z.regex(/^[1-9]\d{0,8}$/, 'must be a positive number')),
    z.pipe(z.transform(Number), z.number().check(z.lte(max, `must be less than or equal to ${max}`))),
  )

/** The query keys of a list: with `limit` the answer is a page, without it a bare array of all rows. */
export const pageQuery = {
  page: z.optional(count(100_000_000)),
  limit: z.optional(count(LIMITS.maxPageSize)),
}

/** Finds rows with this in one of their texts, ignoring case. */
export const searchText = z.optional(z.string().check(z.trim(), z.normalize('NFC'), z.maxLength(253)))

/** `orderBy=<field>,asc|desc`, the field from a fixed list. */
export function orderBy<const F extends readonly [string, ...string[]]>(fields: F) {
  return z.optional(
    z.pipe(
      z.string().check(
        z.refine(
          (text) => {
            const [field = '', direction = '', ...rest] = text.split(',')
            return rest.length === 0 && fields.includes(field) && ['asc', 'desc'].includes(direction)
          },
          `must be one of ${fields.join(', ')}, then ,asc or ,desc`,
        ),
      ),
      z.transform((text): { field: F[number]; direction: 'asc' | 'desc' } => {
        const [field, direction] = text.split(',')
        // The refinement above lets nothing else through.
        return { field: field as F[number], direction: direction === 'desc' ? 'desc' : 'asc' }
      }),
    ),
  )
}

function pageOf<T extends z.ZodMiniType>(row: T) {
  return z.object({ data: z.array(row), page: z.number(), limit: z.number(), total: z.number() })
}
export type Page<T> = { data: T[]; page: number; limit: number; total: number }

/** A list answers with a page or, when the query has no `limit`, with all rows. */
export function listOrPage<T extends z.ZodMiniType>(row: T) {
  return z.union([pageOf(row), z.array(row)])
}
