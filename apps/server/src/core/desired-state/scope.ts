import { FOUNDING_EDGE } from '@postern/net/tunnel-addresses'
import type { EdgeRow } from '../../db/schema.ts'
import type { StatedRows } from './kept-rows.ts'
import type { Mark, SectionView } from './sections.ts'

type Edge = Pick<EdgeRow, 'id' | 'number' | 'is_console'>

const SECTIONS = ['peers', 'routes', 'ports', 'signIns', 'challenges', 'certificates'] as const

export type StateView = Record<(typeof SECTIONS)[number], SectionView> & { readonly revision: number }

/**
 * What an edge gets of the rows. Edges that get the same share one view: all of a kind, while every domain is at all
 * edges.
 * @param edges all there are, whose views are kept
 */
export function viewOf(rows: StatedRows, edge: Edge, edges: readonly Edge[]): StateView {
  const isLimited = rows.limited.size > 0
  const key = keyOf(edge, isLimited)
  const keys = new Set(edges.map((each) => keyOf(each, isLimited)))
  const shows = rowsOf(edge)
  const views = SECTIONS.map((name) => {
    rows[name].keepViews(keys)
    return [name, rows[name].view(key, shows)] as const
  })
  // One entry for each of the names.
  return { revision: rows.revision, ...Object.fromEntries(views) } as StateView
}

function keyOf({ id, number, is_console }: Edge, isLimited: boolean): string {
  const kind = number === FOUNDING_EDGE ? 'beside' : is_console === 1 ? 'with console' : 'without console'
  return isLimited ? `${kind} ${id}` : kind
}

/** The services of the server's machine are at the edge beside it alone. */
function rowsOf({ id, number, is_console }: Edge): (mark: Mark) => boolean {
  const isBeside = number === FOUNDING_EDGE
  const serves = new Map<string, boolean>()
  const isAt = (edges: string) => {
    const known = serves.get(edges) ?? (JSON.parse(edges) as number[]).includes(id)
    serves.set(edges, known)
    return known
  }
  return ({ of, edges = null }) => {
    if (edges !== null && !isAt(edges)) return false
    if (of === undefined || isBeside) return true
    return of === 'console' && is_console === 1
  }
}
