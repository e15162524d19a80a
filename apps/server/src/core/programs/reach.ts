import type { Reach } from '@postern/contract/sign-in/auth'
import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../../db/schema.ts'

/** What an API token is limited to. A node or domain that is deleted leaves it. */
export async function readTokenReach(
  db: Kysely<Database>,
  tokenId: number,
  isLimited: boolean,
): Promise<Reach> {
  if (!isLimited) return null
  const nodes = await db
    .selectFrom('api_token_nodes')
    .select('node_id')
    .where('token_id', '=', tokenId)
    .orderBy('node_id')
    .execute()
  const domains = await db
    .selectFrom('api_token_domains')
    .select('domain_id')
    .where('token_id', '=', tokenId)
    .orderBy('domain_id')
    .execute()
  return { nodes: nodes.map(({ node_id }) => node_id), domains: domains.map(({ domain_id }) => domain_id) }
}

/** Stores the limits of a new token. A node or domain that is named twice counts once. */
export async function writeTokenReach(
  tx: Transaction<Database>,
  token_id: number,
  { nodes, domains }: NonNullable<Reach>,
): Promise<void> {
  const ofNodes = [...new Set(nodes)].map((node_id) => ({ token_id, node_id }))
  const ofDomains = [...new Set(domains)].map((domain_id) => ({ token_id, domain_id }))
  if (ofNodes.length > 0) await tx.insertInto('api_token_nodes').values(ofNodes).execute()
  if (ofDomains.length > 0) await tx.insertInto('api_token_domains').values(ofDomains).execute()
}
