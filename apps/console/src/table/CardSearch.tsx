import { SearchField, type SearchFieldProps } from '../ui/input/SearchField.tsx'
import type { List } from './use-list.ts'

interface Props extends Pick<SearchFieldProps, 'label' | 'placeholder'> {
  list: List<unknown>
}

/** The search in the head of a card; hidden when there are only a few rows. */
export function CardSearch({ list: { params, query, change }, label, placeholder }: Props) {
  const total = query.data?.total ?? 0
  if (params.search === '' && total <= params.limit) return null
  return (
    <SearchField
      label={label}
      placeholder={placeholder}
      value={params.search}
      onSearch={(search) => change({ search }, { replace: true })}
    />
  )
}
