import type { GatewayNetwork, NodeForm } from '@postern/contract/nodes'
import { contains, findCidr } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import type { Transaction } from 'kysely'
import type { Context } from '../context.ts'
import type { Database, NodeRow } from '../db/schema.ts'
import { ConflictError, ValidationError } from './errors.ts'
import { quoteNames } from './names.ts'
import { networksOf } from './node-records.ts'
import { listSubnetConflicts, listSubnetErrors, type UsedNetwork, usedNetworks } from './node-rules.ts'
import { findAddressProblem, findFreeAddress } from './tunnel-addresses.ts'

type Tx = Transaction<Database>

/**
 * The address that a new node gets: the typed one, or the next free one.
 * @throws ValidationError, ConflictError under `address`
 */
export async function chooseAddress(context: Context, tx: Tx, form: NodeForm): Promise<string> {
  if (form.address !== null) {
    await checkAddress(context, tx, form.address)
    return form.address
  }
  const rows = await tx.selectFrom('nodes').select('address').execute()
  const free = findFreeAddress(
    context.tunnel.network4,
    rows.map((row) => row.address),
  )
  if (free === undefined) throw new ConflictError('The tunnel network has no free address left')
  return free
}

/** @throws ValidationError, ConflictError under `address` */
export async function checkAddress(context: Context, tx: Tx, address: string): Promise<void> {
  const problem = findAddressProblem(context.tunnel.network4, address)
  if (problem) throw new ValidationError([{ field: 'address', message: problem }])
  const holder = await tx.selectFrom('nodes').select('name').where('address', '=', address).executeTakeFirst()
  if (!holder) return
  const message = `already belongs to “${holder.name}”`
  throw new ConflictError('The address is taken', [{ field: 'address', message }])
}

/**
 * Checks the subnets that are new with this form; those the node has already may stay.
 * @throws ValidationError, ConflictError under `gatewayNetworks.N.subnet`
 */
export async function checkSubnets(context: Context, tx: Tx, form: NodeForm, row?: NodeRow): Promise<void> {
  if (!form.isGateway) return
  const kept = new Set(row?.is_gateway === 1 ? networksOf(row).map(({ subnet }) => subnet) : [])
  const isNew = (error: { field: string }) => {
    const index = Number(error.field.split('.')[1])
    return !kept.has(form.gatewayNetworks[index]?.subnet ?? '')
  }
  const errors = listSubnetErrors(form.gatewayNetworks, ownNetworks(context)).filter(isNew)
  if (errors.length > 0) throw new ValidationError(errors)
  const others = await listOtherGateways(tx, row?.id)
  const conflicts = listSubnetConflicts(form.gatewayNetworks, others).filter(isNew)
  if (conflicts.length > 0) throw new ConflictError('The subnet is taken', conflicts)
}

/** What the tunnel, this machine, its routers and its name servers need for themselves. */
function ownNetworks({ tunnel, network, config }: Context): UsedNetwork[] {
  const machine = network()
  return [
    ...usedNetworks([tunnel.network4, tunnel.network6], 'the tunnel network'),
    ...usedNetworks(machine.networks, 'a network of this server itself'),
    ...usedNetworks([...machine.addresses, config.publicHost], 'an address of this server itself'),
    ...usedNetworks(machine.dependsOn, 'which this server needs to reach the internet'),
  ]
}

async function listOtherGateways(tx: Tx, nodeId: number | undefined): Promise<UsedNetwork[]> {
  const rows = await tx
    .selectFrom('nodes')
    .select(['id', 'name', 'gateway_networks'])
    .where('is_gateway', '=', 1)
    .execute()
  return rows
    .filter((row) => row.id !== nodeId)
    .flatMap((row) =>
      usedNetworks(
        networksOf(row).map(({ subnet }) => subnet),
        row.name,
      ),
    )
}

/**
 * A node must go on covering the backends of its services.
 * @throws ConflictError that names the services, under the field that they stand against
 */
export async function checkServicesKept(tx: Tx, form: NodeForm, row: NodeRow): Promise<void> {
  if (row.is_gateway === 0) return
  const services = await tx
    .selectFrom('services')
    .select(['name', 'backend_host'])
    .where('node_id', '=', row.id)
    .orderBy('id')
    .execute()
  const lost = services.filter(({ backend_host: host }) => host !== null && !isCovered(host, form))
  if (lost.length === 0) return
  const names = quoteNames(lost.map(({ name }) => name))
  const field = form.isGateway ? 'gatewayNetworks' : 'isGateway'
  throw new ConflictError(`Services still use this gateway: ${names}`, [
    { field, message: `is used by ${names}` },
  ])
}

/** A name is looked up again at every use, so it only needs a gateway. */
function isCovered(host: string, form: NodeForm): boolean {
  if (!form.isGateway) return false
  return findIp(host) === undefined || form.gatewayNetworks.some((network) => isInside(host, network))
}

function isInside(host: string, { subnet }: GatewayNetwork): boolean {
  const [outer, inner] = [findCidr(subnet), findCidr(host)]
  return outer !== undefined && inner !== undefined && contains(outer, inner)
}
