import type { Reach, Role } from '@postern/contract/sign-in/auth'
import type { Kysely } from 'kysely'
import type { Database } from '../../db/schema.ts'

/** What a caller may do, and with which records. */
export interface Access {
  role: Role
  reach: Reach
}

/** Of the installation itself, and of agents, whose own rules hold besides. */
export const UNLIMITED: Access = { role: 'admin', reach: null }

export const mayReachNode = ({ reach }: Access, id: number): boolean => !reach || reach.nodes.includes(id)

export const mayReachDomain = ({ reach }: Access, id: number | undefined): boolean =>
  !reach || (id !== undefined && reach.domains.includes(id))

/** What a person is limited to. */
export async function readReach(db: Kysely<Database>, userId: number, isLimited: boolean): Promise<Reach> {
  if (!isLimited) return null
  const nodes = await db.selectFrom('user_nodes').select('node_id').where('user_id', '=', userId).execute()
  const domains = await db
    .selectFrom('user_domains')
    .select('domain_id')
    .where('user_id', '=', userId)
    .execute()
  return { nodes: nodes.map(({ node_id }) => node_id), domains: domains.map(({ domain_id }) => domain_id) }
}
