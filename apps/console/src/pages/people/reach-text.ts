import type { Person } from '@postern/contract/people/people'

/** So many are named. */
const NAMED = 3

/** What somebody sees: `workshop, office and shop.example.com`. */
export function reachText(names: Person['reachNames']): string {
  if (names === null) return 'The whole installation'
  const all = [...names.nodes, ...names.domains]
  if (all.length === 0) return 'Nothing any more'
  if (all.length > NAMED) return `${all.slice(0, NAMED).join(', ')} and ${all.length - NAMED} more`
  const last = all.at(-1)
  return all.length === 1 ? `${last}` : `${all.slice(0, -1).join(', ')} and ${last}`
}
