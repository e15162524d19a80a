import { toFieldErrors } from '@postern/contract/errors'
import { HistoryQuery } from '@postern/contract/history/history'
import { kindText } from '../../components/history/words.ts'
import { formatMoment } from '../../util/time.ts'

export const FILTER_KEYS = ['search', 'actor', 'kind', 'id', 'node', 'domain', 'from', 'to'] as const
export type FilterKey = (typeof FILTER_KEYS)[number]
/** As the address has them, which are the texts that the API takes. */
export type Filters = Partial<Record<FilterKey, string>>

/** Of a hand-written address, what is valid is kept. */
export function readFilters(address: URLSearchParams): Filters {
  const filters: Filters = {}
  for (const key of FILTER_KEYS) {
    const value = address.get(key)
    if (value) filters[key] = value
  }
  for (const field of Object.keys(findErrors(filters))) if (isKey(field)) delete filters[field]
  return filters
}

/** Field → what is wrong with it. */
export function findErrors(filters: Filters): Readonly<Record<string, string>> {
  const result = HistoryQuery.safeParse(filters)
  const errors = result.success ? [] : toFieldErrors(result.error.issues)
  const { from, to } = filters
  const isBackwards = errors.length === 0 && from !== undefined && to !== undefined && from >= to
  return {
    ...Object.fromEntries(errors.map(({ field, message }) => [field, message])),
    ...(isBackwards && { to: 'must be after the beginning' }),
  }
}

function isKey(field: string): field is FilterKey {
  return FILTER_KEYS.some((key) => key === field)
}

/** The address with these filters and nothing else. */
export function addressOf(filters: Filters): URLSearchParams {
  const address = new URLSearchParams()
  for (const key of FILTER_KEYS) {
    const value = filters[key]
    if (value) address.set(key, value)
  }
  return address
}

/** What a chip says. @param node its name, where that is known */
export function chipText(key: FilterKey, value: string, node: string | undefined): string {
  switch (key) {
    case 'kind':
      return kindText(value)
    case 'id':
      return `Number ${value}`
    case 'actor':
      return `By ${value}`
    case 'node':
      return `Node: ${node ?? value}`
    case 'domain':
      return `Domain: ${value}`
    case 'from':
    case 'to':
      return `${key === 'from' ? 'From' : 'Until'} ${formatMoment(value)}`
    case 'search':
      return value
  }
}
