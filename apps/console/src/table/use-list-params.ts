import { useSearchParams } from 'react-router'
import { changeListParams, type ListParams, readListParams } from './list-params.ts'

/** The parameters of the page's list, and how to change some of them. `replace` leaves no entry for Back. */
export function useListParams(
  defaultLimit: number,
): [ListParams, (change: Partial<ListParams>, options?: { replace: boolean }) => void] {
  const [query, setQuery] = useSearchParams()
  return [
    readListParams(query, defaultLimit),
    (change, options) => setQuery((current) => changeListParams(current, change), options),
  ]
}
