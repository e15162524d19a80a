import type { ReactNode } from 'react'
import { SearchField } from '../ui/input/SearchField.tsx'
import { Pills } from '../ui/input/Select.tsx'
import type { List } from './use-list.ts'

interface Props<T> {
  list: List<T>
  types: readonly { value: string; text: string }[]
  /** The plural of the things in the list. */
  noun: string
  placeholder: string
  children?: ReactNode
}

/** The filters above a page's list: by type and by text. */
export function ListFilters<T>({ list: { params, change }, types, noun, placeholder, children }: Props<T>) {
  return (
    <div className="tools">
      <Pills label="Type" options={types} value={params.type} onValueChange={(type) => change({ type })} />
      <SearchField
        label={`Search ${noun}`}
        placeholder={placeholder}
        value={params.search}
        onSearch={(search) => change({ search }, { replace: true })}
      />
      {children}
    </div>
  )
}
