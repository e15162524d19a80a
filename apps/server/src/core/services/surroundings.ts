import { ownPortsOf } from '@postern/contract/settings'
import { findCidrs } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import type { Surroundings } from '@postern/net/targets'
import type { Kysely } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database } from '../../db/schema.ts'
import { networksOf } from '../columns.ts'

/** What the rules for a service's backend need to know of this machine, the tunnel and all gateways. */
export async function readSurroundings(context: Context, db: Kysely<Database>): Promise<Surroundings> {
  const { config, tunnel } = context
  const machine = context.network()
  const gateways = await db
    .selectFrom('nodes')
    .select('gateway_networks')
    .where('is_gateway', '=', 1)
    .where('enabled', '=', 1)
    .execute()
  const subnets = gateways.flatMap(networksOf).map(({ subnet }) => subnet)
  const own = [...machine.addresses, config.publicHost].map(findIp)
  return {
    tunnel: findCidrs([tunnel.network4, tunnel.network6]),
    behindGateways: findCidrs(subnets),
    ownAddresses: own.filter((ip) => ip !== undefined),
    ownNetworks: findCidrs(machine.networks),
    ownPorts: ownPortsOf(config.settings),
  }
}
