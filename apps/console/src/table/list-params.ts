import type { Endpoint } from '@postern/contract/endpoints/endpoint'
import { toFieldErrors } from '@postern/contract/errors'
import { LIMITS } from '@postern/contract/limits'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { readRowsPerPage } from '../stores/row-counts.ts'
import type { Sort } from '../ui/data/Table.tsx'

/** The state of a list in the page's address, so that a link or Back opens the same rows. */
export interface ListParams {
  page: number
  limit: number
  search: string
  type: string
  sort: Sort | undefined
  /** What else the list of a page is narrowed by, by the keys of its endpoint; empty for all. */
  filters: Readonly<Record<string, string>>
}

const NO_FILTERS: readonly string[] = []

/** Whether some rows may be left out. */
export function isNarrowed({ search, type, filters }: ListParams): boolean {
  return search !== '' || type !== '' || Object.values(filters).some((value) => value !== '')
}

const positive = (text: string | null): number | undefined =>
  text !== null && /^[1-9]\d{0,7}$/.test(text) ? Number(text) : undefined

function parseSort(text: string | null): Sort | undefined {
  const [field = '', direction, ...rest] = (text ?? '').split(',')
  if (field === '' || rest.length > 0 || (direction !== 'asc' && direction !== 'desc')) return undefined
  return { field, direction }
}

/** On a page with several lists, each has its own keys: `tokens.page`. */
function keysOf(card: string) {
  return (key: string) => (card === '' ? key : `${card}.${key}`)
}

/** Reads the parameters; invalid ones count as absent. */
export function readListParams(
  query: URLSearchParams,
  defaultLimit: number,
  card = '',
  filters: readonly string[] = NO_FILTERS,
): ListParams {
  const key = keysOf(card)
  const limit = positive(query.get(key('limit')))
  return {
    page: positive(query.get(key('page'))) ?? 1,
    limit: limit !== undefined && limit <= LIMITS.maxPageSize ? limit : defaultLimit,
    search: query.get(key('search')) ?? '',
    type: query.get(key('type')) ?? '',
    sort: parseSort(query.get(key('orderBy'))),
    filters: Object.fromEntries(filters.map((name) => [name, query.get(key(name)) ?? ''])),
  }
}

/** The address after a change. Every change except of the page goes back to page 1. */
export function changeListParams(
  query: URLSearchParams,
  change: Partial<ListParams>,
  card = '',
): URLSearchParams {
  const next = new URLSearchParams(query)
  const key = keysOf(card)
  const put = (name: string, value: string) =>
    value === '' ? next.delete(key(name)) : next.set(key(name), value)
  if (change.search !== undefined) put('search', change.search)
  if (change.type !== undefined) put('type', change.type)
  for (const [name, value] of Object.entries(change.filters ?? {})) put(name, value)
  if (change.limit !== undefined) put('limit', String(change.limit))
  if ('sort' in change) put('orderBy', change.sort ? `${change.sort.field},${change.sort.direction}` : '')
  const page = change.page ?? 1
  put('page', page === 1 ? '' : String(page))
  return next
}

/** The query of the endpoint for these parameters. */
export function listQueryOf(params: ListParams) {
  return {
    page: params.page,
    limit: params.limit,
    search: params.search || undefined,
    type: params.type || undefined,
    orderBy: params.sort && `${params.sort.field},${params.sort.direction}`,
    ...filterOf(params),
  }
}

function filterOf({ filters }: ListParams): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''))
}

/** A change that drops parameters which the endpoint would refuse; undefined when there are none. */
export function findUnusable(endpoint: Endpoint, params: ListParams): Partial<ListParams> | undefined {
  const result = endpoint.query?.safeParse(withoutAbsent(listQueryOf({ ...params, page: 1, limit: 1 })))
  const fields = result?.success === false ? toFieldErrors(result.error.issues).map(({ field }) => field) : []
  const unusable = Object.keys(params.filters).filter((name) => fields.includes(name))
  const drop: Partial<ListParams> = {
    ...(fields.includes('search') && { search: '' }),
    ...(fields.includes('type') && { type: '' }),
    ...(fields.includes('orderBy') && { sort: undefined }),
    ...(unusable.length > 0 && {
      filters: { ...params.filters, ...Object.fromEntries(unusable.map((name) => [name, ''])) },
    }),
  }
  return Object.keys(drop).length > 0 ? drop : undefined
}

function withoutAbsent(query: object): object {
  const present = Object.entries(query).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present.map(([key, value]) => [key, String(value)]))
}

/** The page to go to when the current one has no rows left, or undefined. */
export function stepBack(page: number, limit: number, rows: number, total: number): number | undefined {
  if (page <= 1 || rows > 0) return undefined
  return Math.max(1, Math.min(page - 1, Math.ceil(total / limit)))
}

/** The parameters of a list, and how to change some of them. `replace` leaves no entry for Back. */
export type ListState = readonly [
  ListParams,
  (change: Partial<ListParams>, options?: { replace: boolean }) => void,
]

/** Parameters in the address of the page: of its only list, or with the name of a card in front of them. */
export function useAddressParams(
  defaultLimit: number,
  card?: string,
  filters?: readonly string[],
): ListState {
  const [query, setQuery] = useSearchParams()
  return [
    readListParams(query, defaultLimit, card, filters),
    // Two changes may come before React renders the first one: only the address has both.
    (change, options) =>
      setQuery(changeListParams(new URLSearchParams(location.search), change, card), options),
  ]
}

/** Parameters of a page's only list: it has as many rows as the person last chose, unless the address says otherwise. */
export function usePageParams(filters?: readonly string[]): ListState {
  const [limit] = useState(() => readRowsPerPage())
  return useAddressParams(limit, undefined, filters)
}

/** For a list on a page that is about something else. */
export function useCardParams(first: number): ListState {
  const [{ page, limit }, setPlace] = useState({ page: 1, limit: first })
  return [
    { page, limit, search: '', type: '', sort: undefined, filters: {} },
    (change) => setPlace((place) => ({ page: change.page ?? 1, limit: change.limit ?? place.limit })),
  ]
}
