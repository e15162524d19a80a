import { closedPortsOf } from '@postern/contract/settings/settings'
import { type Cidr, findCidrs } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import type { Surroundings } from '@postern/net/targets'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database, NodeRow } from '../../db/schema.ts'
import { networksOf } from '../columns.ts'

export interface ServiceSurroundings extends Surroundings {
  ownHosts: readonly string[]
}

/** What the rules for a backend on this node need to know about this machine, the tunnel and all gateways. */
export async function readSurroundings(
  context: Context,
  db: Kysely<Database>,
  node: Pick<NodeRow, 'is_local'>,
): Promise<ServiceSurroundings> {
  const { config, tunnel } = context
  const machine = context.network()
  const own = [...machine.addresses, ...config.ownHosts].map(findIp)
  return {
    tunnel: findCidrs([tunnel.network4, tunnel.network6]),
    // Only this machine itself could reach them without their gateways.
    behindGateways: node.is_local === 1 ? await listGatewayNetworks(db) : [],
    ownAddresses: own.filter((ip) => ip !== undefined),
    ownNetworks: findCidrs(machine.networks),
    ownPorts: closedPortsOf(config.settings),
    ownHosts: config.ownHosts,
  }
}

async function listGatewayNetworks(db: Kysely<Database>): Promise<Cidr[]> {
  const gateways = await db
    .selectFrom('nodes')
    .select('gateway_networks')
    .where('is_gateway', '=', 1)
    .where('enabled', '=', 1)
    .execute()
  return findCidrs(gateways.flatMap(networksOf).map(({ subnet }) => subnet))
}
