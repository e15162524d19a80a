import { HistoryQuery } from '@postern/contract/history/history'
import { addressWith, faultsIn, filtersIn, withoutFaults } from '../../components/filters/address.ts'
import { kindText } from '../../components/history/words.ts'
import { formatMoment } from '../../util/time.ts'

export const FILTER_KEYS = ['search', 'actor', 'kind', 'id', 'node', 'domain', 'from', 'to'] as const
export type FilterKey = (typeof FILTER_KEYS)[number]
/** As the address has them, which are the texts that the API takes. */
export type Filters = Partial<Record<FilterKey, string>>

/** The valid filters of an address that somebody may have written. */
export function readFilters(address: URLSearchParams): Filters {
  const filters = filtersIn(address, FILTER_KEYS)
  return withoutFaults(filters, findErrors(filters))
}

/** Field → what is wrong with it. */
export const findErrors = (filters: Filters) => faultsIn(HistoryQuery, filters)

export const addressOf = (filters: Filters) => addressWith(filters, FILTER_KEYS)

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
