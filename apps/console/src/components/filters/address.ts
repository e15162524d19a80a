import { toFieldErrors } from '@postern/contract/errors'
import type * as z from 'zod/mini'

/** Filters as a page's address has them: the texts that the API takes, by its names. */
export type FiltersOf<K extends string> = Partial<Record<K, string>>

/** What the address has of these keys; an empty value counts as absent. */
export function filtersIn<K extends string>(address: URLSearchParams, keys: readonly K[]): FiltersOf<K> {
  const filters: FiltersOf<K> = {}
  for (const key of keys) {
    const value = address.get(key)
    if (value) filters[key] = value
  }
  return filters
}

/** The address with these filters and nothing else. */
export function addressWith<K extends string>(filters: FiltersOf<K>, keys: readonly K[]): URLSearchParams {
  const address = new URLSearchParams()
  for (const key of keys) {
    const value = filters[key]
    if (value) address.set(key, value)
  }
  return address
}

/** Field → what the API would refuse, and a time that ends before it begins. */
export function faultsIn(
  schema: z.ZodMiniType,
  filters: { from?: string; to?: string },
): Readonly<Record<string, string>> {
  const result = schema.safeParse(filters)
  const errors = result.success ? [] : toFieldErrors(result.error.issues)
  const { from, to } = filters
  const isBackwards = errors.length === 0 && from !== undefined && to !== undefined && from >= to
  return {
    ...Object.fromEntries(errors.map(({ field, message }) => [field, message])),
    ...(isBackwards && { to: 'must be after the beginning' }),
  }
}

/** The filters without those that have a fault. */
export function withoutFaults<K extends string>(
  filters: FiltersOf<K>,
  faults: Readonly<Record<string, string>>,
): FiltersOf<K> {
  const valid = { ...filters }
  for (const key of Object.keys(filters) as K[]) if (key in faults) delete valid[key]
  return valid
}
