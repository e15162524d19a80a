import { createContext } from 'react'

export type RowKind = 'services' | 'nodes' | 'domains' | 'edges'

/** Which rows a list shows: the figures of all of them are asked for at once. */
export const RowsContext = createContext<{ of: RowKind; ids: string }>({ of: 'services', ids: '' })
