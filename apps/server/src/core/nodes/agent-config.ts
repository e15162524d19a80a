import type { AgentConfig } from '@postern/contract/agent'
import type { Context } from '../../context.ts'
import type { NodeRow } from '../../db/schema.ts'
import { networksOf } from '../columns.ts'
import { NotFoundError } from '../errors.ts'
import { getNodeRow } from './records.ts'

/** What the node's agent needs to be in the tunnel, also while the node is disabled. @throws NotFoundError */
export async function getAgentConfig(context: Context, nodeId: number): Promise<AgentConfig> {
  return agentConfigOf(context, await getNodeRow(context.db, nodeId))
}

/** @throws NotFoundError for the local node */
export function agentConfigOf({ secrets, tunnel }: Context, row: NodeRow): AgentConfig {
  if (row.preshared_key === null) throw new NotFoundError('Node')
  return {
    node: { id: row.id, name: row.name, enabled: row.enabled === 1 },
    addresses: [`${row.address}/32`, `${tunnel.address6(row.address)}/128`],
    dns: row.dns?.split(/[\s,]+/).filter(Boolean) ?? [],
    publicKey: row.public_key,
    gateway: row.is_gateway === 1 ? networksOf(row) : null,
    peer: {
      publicKey: tunnel.publicKey,
      presharedKey: secrets.open(row.preshared_key),
      endpoint: tunnel.endpoint,
      allowedIps: tunnel.allowedIps({ allowInternet: row.allow_internet === 1 }),
      keepaliveSeconds: row.keepalive,
    },
    edgeAddress: tunnel.edgeAddress(row.address),
  }
}
