import type { Edge } from '@postern/contract/edge/edge'
import { useEdges } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'

/** The edges whose name or place has a text; none for an empty one. */
export function useFoundEdges(wanted: string): Edge[] {
  const isAllowed = useRules().edges
  const edges = useEdges(isAllowed).data ?? []
  const text = wanted.toLowerCase()
  if (!isAllowed || text === '') return []
  return edges.filter(({ name, place }) => `${name} ${place ?? ''}`.toLowerCase().includes(text))
}
