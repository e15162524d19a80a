import { RequestQuery } from '@postern/contract/requests/query'
import { isReason, REASONS } from '@postern/contract/requests/reasons'
import { addressWith, faultsIn, filtersIn, withoutFaults } from '../../components/filters/address.ts'
import { formatMoment } from '../../util/time.ts'

/** What the address of the page holds, by the names of the API; `last` counts back from now. */
export const FILTER_KEYS = [
  'last',
  'from',
  'to',
  'service',
  'node',
  'domain',
  'type',
  'status',
  'method',
  'path',
  'source',
  'person',
  'reason',
  'minTime',
] as const
export type FilterKey = (typeof FILTER_KEYS)[number]
export type Filters = Partial<Record<FilterKey, string>>

export const SPANS: Readonly<Record<string, { ms: number; text: string }>> = {
  '15m': { ms: 15 * 60_000, text: 'Last 15 minutes' },
  '1h': { ms: 3_600_000, text: 'Last hour' },
  '1d': { ms: 86_400_000, text: 'Last day' },
  '7d': { ms: 7 * 86_400_000, text: 'Last 7 days' },
}

/** What the API would refuse counts as absent. */
export function readFilters(address: URLSearchParams): Filters {
  const filters = filtersIn(address, FILTER_KEYS)
  if (filters.last !== undefined && SPANS[filters.last] === undefined) delete filters.last
  return withoutFaults(filters, findErrors(filters))
}

/** Field → what is wrong with it. */
export const findErrors = ({ last: _, ...filters }: Filters) => faultsIn(RequestQuery, filters)

export const addressOf = (filters: Filters) => addressWith(filters, FILTER_KEYS)

/** As the API takes them. @param now in ms since the epoch */
export function queryOf({ last, ...filters }: Filters, now: number): Omit<Filters, 'last'> {
  const span = last === undefined ? undefined : SPANS[last]
  return span ? { ...filters, from: new Date(now - span.ms).toISOString() } : filters
}

/** Names of what is filtered by its id. */
export interface Names {
  service: string | undefined
  node: string | undefined
}

/** What a chip says. */
export function chipText(key: FilterKey, value: string, names: Names): string {
  switch (key) {
    case 'last':
      return SPANS[value]?.text ?? value
    case 'from':
    case 'to':
      return `${key === 'from' ? 'From' : 'Until'} ${formatMoment(value)}`
    case 'service':
      return `Service: ${names.service ?? value}`
    case 'node':
      return `Node: ${names.node ?? value}`
    case 'domain':
      return `Domain: ${value}`
    case 'type':
      return value.toUpperCase()
    case 'reason':
      return value === 'any' ? 'Any reason' : isReason(value) ? `Reason: ${REASONS[value]}` : value
    case 'minTime':
      return `At least ${value} ms`
    case 'source':
      return `Visitor: ${value}`
    default:
      return `${WORDS[key]}: ${value}`
  }
}

const WORDS = { status: 'Status', method: 'Method', path: 'Path', person: 'Person' } as const
