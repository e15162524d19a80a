import type { Problem } from '@postern/contract/edge/edge'
import { LIMITS } from '@postern/contract/limits'
import type { LiveFigures } from '../nodes/figures.ts'
import { statusOf } from '../nodes/figures.ts'
import type { EdgeView } from '../services/state.ts'

/** What is not the same at every edge, in words. */

/** `At Frankfurt, Vienna: …`, where not all edges say so. */
export function atEdges(message: string, at: readonly Pick<EdgeView, 'name'>[], all: number): string {
  if (at.length === all) return message
  return `At ${at.map(({ name }) => name).join(', ')}: ${message}`.slice(0, LIMITS.problemLength)
}

/** The problems that connected edges report, each once. */
export function listProblems(views: readonly EdgeView[]): Problem[] {
  if (views.length === 1) return [...(views[0]?.problems ?? [])]
  const all = views.flatMap((edge) => edge.problems.map((problem) => ({ edge, problem })))
  const same = Map.groupBy(all, ({ problem }) => JSON.stringify([problem.scope, problem.message]))
  return [...same.values()].flatMap((some) => {
    const [first] = some
    if (!first) return []
    const { scope, message } = first.problem
    const at = some.map(({ edge }) => edge)
    return [{ scope, message: atEdges(message, at, views.length) }]
  })
}

/** The connected edges that a node which is online does not reach. */
export function listEdgesAway(
  live: Pick<LiveFigures, 'findAt'>,
  views: readonly EdgeView[],
  node: { id: number; isOnline: boolean },
  now: number,
): EdgeView[] {
  if (views.length < 2 || !node.isOnline) return []
  return views.filter(({ id }) => {
    const seen = live.findAt(id, node.id)
    return seen !== undefined && statusOf(true, seen, now) !== 'online'
  })
}
