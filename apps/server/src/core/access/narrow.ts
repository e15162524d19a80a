import type { Reach, Role } from '@postern/contract/sign-in/auth'
import type { Access } from './access.ts'

/** By what they may do, least first. One that this version does not know may do nothing at all. */
const RANKS: readonly Role[] = ['viewer', 'editor', 'admin']

/** True when `role` may do nothing that `other` may not. */
export function isWithin(role: Role, other: Role): boolean {
  return RANKS.indexOf(role) <= RANKS.indexOf(other)
}

/** What both allow: the smaller role, with the records that are in the reach of both. */
export function narrow(one: Access, other: Access): Access {
  return {
    role: isWithin(one.role, other.role) ? one.role : other.role,
    reach: intersect(one.reach, other.reach),
  }
}

function intersect(one: Reach, other: Reach): Reach {
  if (one === null || other === null) return one ?? other
  return { nodes: common(one.nodes, other.nodes), domains: common(one.domains, other.domains) }
}

function common(ids: readonly number[], others: readonly number[]): number[] {
  const kept = new Set(others)
  return ids.filter((id) => kept.has(id))
}
