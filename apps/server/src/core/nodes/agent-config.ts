import { type AgentConfig, MOST_TARGETS, type NodeTargets } from '@postern/contract/agent/agent'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database, NodeRow } from '../../db/schema.ts'
import { networksOf } from '../columns.ts'
import { NotFoundError } from '../errors.ts'
import { PLACES } from '../secrets/secrets.ts'
import { getNodeRow } from './records.ts'

/**
 * What the node's agent needs for the tunnel, even while the node is disabled.
 * @throws NotFoundError
 */
export async function getAgentConfig(context: Context, nodeId: number): Promise<AgentConfig> {
  const row = await getNodeRow(context.db, nodeId)
  const targets = await listTargets(context.db, nodeId)
  return { ...tunnelConfigOf(context, row), targets, mayPublish: row.agent_may_publish === 1 }
}

/** The node's own ports to which its enabled services lead. */
async function listTargets(db: Kysely<Database>, nodeId: number): Promise<NodeTargets> {
  const rows = await db
    .selectFrom('services')
    .select(['proto', 'backend_port'])
    .distinct()
    .where('node_id', '=', nodeId)
    .where('enabled', '=', 1)
    .where('backend_host', 'is', null)
    .orderBy('backend_port')
    .execute()
  const portsOf = (isUdp: boolean) =>
    rows.filter(({ proto }) => (proto === 'udp') === isUdp).map((row) => row.backend_port)
  const most = (ports: number[]) => [...new Set(ports)].slice(0, MOST_TARGETS)
  return { tcp: most(portsOf(false)), udp: most(portsOf(true)) }
}

/** What a node needs to be in the tunnel, with an agent or without. */
export type TunnelConfig = Omit<AgentConfig, 'targets' | 'mayPublish'>

/** @throws NotFoundError for the local node */
export function tunnelConfigOf({ secrets, tunnel }: Context, row: NodeRow): TunnelConfig {
  if (row.preshared_key === null) throw new NotFoundError('Node')
  return {
    node: { id: row.id, name: row.name, enabled: row.enabled === 1 },
    addresses: [`${row.address}/32`, `${tunnel.address6(row.address)}/128`],
    dns: row.dns?.split(/[\s,]+/).filter(Boolean) ?? [],
    publicKey: row.public_key,
    gateway: row.is_gateway === 1 ? networksOf(row) : null,
    peer: {
      publicKey: tunnel.publicKey,
      presharedKey: secrets.open(row.preshared_key, PLACES.node(row.id, 'preshared_key')),
      endpoint: tunnel.endpoint,
      allowedIps: tunnel.allowedIps({ allowInternet: row.allow_internet === 1 }),
      keepaliveSeconds: row.keepalive,
    },
    edgeAddress: tunnel.edgeAddress(row.address),
  }
}
