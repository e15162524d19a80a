import type { FieldError } from '@postern/contract/errors'
import { type Kysely, sql } from 'kysely'
import type { Database, NodeRow } from '../../db/schema.ts'

/** How much the agent of a node may publish. */
export type Shares = Pick<
  NodeRow,
  'agent_max_services' | 'agent_max_domains' | 'agent_max_ports' | 'agent_max_entries'
>

/** How much of its node's shares one service takes. */
export interface Taken {
  domain: string | null
  hasPort: boolean
  entries: number
}

/** Counts services one by one, and finds the share that each exceeds. */
function createCount(shares: Shares) {
  const domains = new Set<string>()
  let [services, ports, entries] = [0, 0, 0]
  return {
    /** @returns undefined when it fits; it is then counted */
    add(each: Taken): keyof Shares | undefined {
      const isNew = each.domain !== null && !domains.has(each.domain)
      if (services + 1 > shares.agent_max_services) return 'agent_max_services'
      if (domains.size + Number(isNew) > shares.agent_max_domains) return 'agent_max_domains'
      if (ports + Number(each.hasPort) > shares.agent_max_ports) return 'agent_max_ports'
      if (entries + each.entries > shares.agent_max_entries) return 'agent_max_entries'
      services++
      ports += Number(each.hasPort)
      entries += each.entries
      if (each.domain !== null) domains.add(each.domain)
      return undefined
    },
  }
}

/** All that the agent of a node publishes, by id, oldest first. */
export async function readTaken(db: Kysely<Database>, nodeId: number): Promise<Map<number, Taken>> {
  const rows = await db
    .selectFrom('publications')
    .innerJoin('services', 'services.id', 'service_id')
    .leftJoin('domains', 'domains.id', 'domain_id')
    .select(['services.id', 'domains.domain', 'services.type'])
    .select(sql<number>`json_array_length(allowed_ips) + json_array_length(blocked_ips)`.as('entries'))
    .where('publications.node_id', '=', nodeId)
    .orderBy('services.id')
    .execute()
  return new Map(
    rows.map(({ id, domain, type, entries }) => [id, { domain, hasPort: type === 'tcp', entries }]),
  )
}

/** @returns the ids of the newest services that exceed these shares */
export async function listBeyond(db: Kysely<Database>, nodeId: number, shares: Shares): Promise<number[]> {
  const count = createCount(shares)
  const taken = [...(await readTaken(db, nodeId))]
  return taken.filter(([, each]) => count.add(each) !== undefined).map(([id]) => id)
}

const WORDS: Readonly<Record<keyof Shares, { field: string; what: string }>> = {
  agent_max_services: { field: 'key', what: 'services' },
  agent_max_domains: { field: 'domain', what: 'domains' },
  agent_max_ports: { field: 'port', what: 'ports' },
  agent_max_entries: { field: 'allowedIps', what: 'IP list entries' },
}

/**
 * Why a service exceeds the shares of its node, by field.
 * @param id the existing service, whose own shares are available to it
 */
export function findTooMany(
  shares: Shares,
  taken: ReadonlyMap<number, Taken>,
  wanted: Taken,
  id: number | undefined,
): FieldError[] {
  const count = createCount(shares)
  for (const [other, each] of taken) if (other !== id) count.add(each)
  const beyond = count.add(wanted)
  if (beyond === undefined) return []
  const { field, what } = WORDS[beyond]
  const message = `goes beyond this node's limit of ${shares[beyond]} ${what}. A person can raise it in the node's form`
  return [{ field, message }]
}
