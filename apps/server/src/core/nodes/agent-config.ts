import {
  type AgentConfig,
  MOST_TARGETS,
  type NodeTargets,
  type TunnelEnd,
} from '@postern/contract/agent/agent'
import { FOUNDING_EDGE } from '@postern/net/tunnel-addresses'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database, NodeRow } from '../../db/schema.ts'
import { networksOf } from '../columns.ts'
import { type EdgeEnd, listEnds } from '../edges/ends.ts'
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
  const config = tunnelConfigOf(context, row, await listEnds(context))
  return { ...config, targets, mayPublish: row.agent_may_publish === 1 }
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
export function tunnelConfigOf(
  { secrets, tunnel }: Context,
  row: NodeRow,
  ends: readonly EdgeEnd[],
): TunnelConfig {
  if (row.preshared_key === null) throw new NotFoundError('Node')
  // The same at every edge: one secret for each pair would make the state of every edge another one.
  const presharedKey = secrets.open(row.preshared_key, PLACES.node(row.id, 'preshared_key'))
  const common = { presharedKey, keepaliveSeconds: row.keepalive }
  const founding: TunnelEnd = {
    ...common,
    publicKey: tunnel.publicKey,
    endpoint: ends.find(({ addresses }) => addresses === null)?.endpoint ?? tunnel.endpoint,
    allowedIps: tunnel.allowedIps({ allowInternet: row.allow_internet === 1 }),
  }
  const edgeAddress = tunnel.edgeAddress(FOUNDING_EDGE, row.address)
  return {
    node: { id: row.id, name: row.name, enabled: row.enabled === 1 },
    addresses: [`${row.address}/32`, `${tunnel.address6(row.address)}/128`],
    dns: row.dns?.split(/[\s,]+/).filter(Boolean) ?? [],
    publicKey: row.public_key,
    gateway: row.is_gateway === 1 ? networksOf(row) : null,
    peer: founding,
    edgeAddress,
    edges: ends.map(({ id, name, publicKey, endpoint, addresses }) => {
      if (addresses === null) return { id, name, peer: founding, edgeAddress }
      const { address4, address6 } = addresses
      const allowedIps = [`${address4}/32`, `${address6}/128`]
      return { id, name, peer: { ...common, publicKey, endpoint, allowedIps }, edgeAddress: address4 }
    }),
  }
}
