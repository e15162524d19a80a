import { LIMITS } from '@postern/contract/limits'
import type { Kysely, Transaction } from 'kysely'
import { updateStated } from '../../changes/change.ts'
import type { Database } from '../../db/schema.ts'
import { textsOf } from '../columns.ts'

/** Whether a person gave the domain to the node: by its name, or by `*.` and a parent domain. */
export function isGiven(domain: string, given: readonly string[]): boolean {
  return given.some((each) => (each.startsWith('*.') ? domain.endsWith(each.slice(1)) : each === domain))
}

/** @returns the domains that people allow the agent of a node to use */
export async function readGiven(db: Kysely<Database>, nodeId: number): Promise<string[]> {
  const row = await db.selectFrom('nodes').select('agent_domains').where('id', '=', nodeId).executeTakeFirst()
  return textsOf(row?.agent_domains ?? '[]')
}

/** All domains given to agents of any node, without a leading `*.`. */
export async function listGiven(db: Kysely<Database>): Promise<string[]> {
  const rows = await db
    .selectFrom('nodes')
    .select('agent_domains')
    .where('agent_may_publish', '=', 1)
    .where('agent_domains', '!=', '[]')
    .orderBy('id')
    .execute()
  const names = rows.flatMap(({ agent_domains }) => textsOf(agent_domains))
  return [...new Set(names.map((name) => name.replace(/^\*\./, '')))]
}

/** A domain that a person saves, perhaps with a new name. */
interface Saved {
  id: number
  from: string
  to: string
  revision: number
}

/**
 * When a person saves a domain that an agent brought, it becomes theirs, and is given to that agent's node.
 * @returns the nodes that get it this way
 */
export async function keepDomain(tx: Transaction<Database>, saved: Saved): Promise<number[]> {
  const brought = await tx
    .deleteFrom('published_domains')
    .where('domain_id', '=', saved.id)
    .returning('domain_id')
    .execute()
  return brought.length === 0 ? [] : await giveTo(tx, saved, () => true)
}

/** Gives the new name where the old one was given, if the agent has services that move along. */
export async function giveRenamed(tx: Transaction<Database>, saved: Saved): Promise<number[]> {
  return await giveTo(tx, saved, (given) => isGiven(saved.from, given))
}

/** Gives the name to nodes whose agents publish services there. @returns the nodes that got it */
async function giveTo(
  tx: Transaction<Database>,
  { id, to, revision }: Saved,
  mayHave: (given: readonly string[]) => boolean,
): Promise<number[]> {
  const nodes = await tx
    .selectFrom('publications')
    .innerJoin('services', 'services.id', 'service_id')
    .innerJoin('nodes', 'nodes.id', 'services.node_id')
    .select(['nodes.id', 'agent_domains'])
    .distinct()
    .where('domain_id', '=', id)
    .orderBy('nodes.id')
    .execute()
  const gets: number[] = []
  for (const node of nodes) {
    const given = textsOf(node.agent_domains)
    if (!mayHave(given) || isGiven(to, given) || given.length >= LIMITS.agentGivenDomains) continue
    await updateStated(tx, 'nodes', node.id, revision, { agent_domains: JSON.stringify([...given, to]) })
    gets.push(node.id)
  }
  return gets
}
