import type { FieldError } from '@postern/contract/errors'
import { MESSAGES } from '@postern/contract/messages'
import type { GatewayNetwork, NodeForm } from '@postern/contract/nodes'
import { PEOPLE_MESSAGES } from '@postern/contract/people/messages'
import { type Cidr, contains, findCidr, findCidrs, formatCidr, overlaps } from '@postern/net/cidr'
import { findIp } from '@postern/net/ip'
import { findSubnetFault } from '@postern/net/targets'
import type { Transaction } from 'kysely'
import type { Context } from '../../context.ts'
import type { Database, NodeRow } from '../../db/schema.ts'
import { type Access, mayReachNode } from '../access/access.ts'
import { networksOf } from '../columns.ts'
import { type Findings, quoted, quoteNames, refuseFindings } from '../errors.ts'
import type { Patch, Readable } from '../patch.ts'
import { readForm } from '../stale.ts'
import { findAddressProblem } from '../tunnel/addresses.ts'
import { formOf } from './records.ts'

type Tx = Transaction<Database>

/** A subnet in a form that can be parsed, and one that cannot. */
type Row = Partial<GatewayNetwork>

const NOTHING: Findings = { invalid: [], taken: [] }

/**
 * Parses a form and checks all that depends on other data; the node's present address and subnets may stay.
 * @param row the node as it is; undefined for a new one
 * @throws ValidationError, ConflictError with all problems
 */
export async function checkNode(
  context: Context,
  tx: Tx,
  patch: Patch<NodeForm>,
  row?: NodeRow,
): Promise<NodeForm> {
  const current = row ? formOf(row) : {}
  const { values, errors } = await readForm(tx, 'nodes', row?.id, () => patch.read(current, row?.updated_at))
  refuseFindings(
    { invalid: [...errors, ...findForAll(context, values, current)], taken: [] },
    await findAddressFault(context, tx, values, row),
    await findSubnetFaults(context, tx, values, row),
    await findLostServices(tx, values, row),
  )
  return patch.onto(current, row?.updated_at)
}

/** By its agent a node publishes at names that nobody gave to a limited person. */
const AGENTS_RIGHTS = [
  'agentMayPublish',
  'agentDomains',
  'agentMaxServices',
  'agentMaxDomains',
  'agentMaxPorts',
  'agentMaxEntries',
] as const

/**
 * What of a node is about the whole installation: a limited person leaves it as it is, or takes it back. A network can be
 * behind one gateway alone, and what leads into it for others would end.
 */
function findForAll(
  { access }: Context,
  values: Readable<NodeForm>,
  current: Partial<NodeForm>,
): FieldError[] {
  if (!access.reach) return []
  const rights = AGENTS_RIGHTS.filter(
    (field) => field in values && JSON.stringify(values[field]) !== JSON.stringify(current[field]),
  )
  const known = new Set((current.gatewayNetworks ?? []).map(({ subnet }) => subnet))
  const isNew = values.gatewayNetworks?.some(({ subnet }) => subnet !== undefined && !known.has(subnet))
  const grown = [
    ...(values.isGateway && !current.isGateway ? ['isGateway'] : []),
    ...(isNew ? ['gatewayNetworks'] : []),
    ...(values.allowInternet && !current.allowInternet ? ['allowInternet'] : []),
  ]
  return [...rights, ...grown].map((field) => ({ field, message: PEOPLE_MESSAGES.forAll }))
}

async function findAddressFault(
  { tunnel }: Context,
  tx: Tx,
  { address }: Readable<NodeForm>,
  row?: NodeRow,
): Promise<Findings> {
  if (address === undefined || address === null || address === row?.address) return NOTHING
  const problem = findAddressProblem(tunnel.network4, address)
  if (problem) return { invalid: [{ field: 'address', message: problem }], taken: [] }
  const holder = await tx.selectFrom('nodes').select('name').where('address', '=', address).executeTakeFirst()
  if (!holder) return NOTHING
  const message = `already belongs to ${quoted(holder.name)}`
  return { invalid: [], taken: [{ field: 'address', message }], message: 'The address is taken' }
}

/** The subnets that this form adds. */
async function findSubnetFaults(
  context: Context,
  tx: Tx,
  { isGateway, gatewayNetworks }: Readable<NodeForm>,
  row?: NodeRow,
): Promise<Findings> {
  if (!isGateway || !gatewayNetworks) return NOTHING
  const kept = new Set(row?.is_gateway === 1 ? networksOf(row).map(({ subnet }) => subnet) : [])
  const isNew = (error: FieldError) => {
    const index = Number(error.field.split('.')[1])
    return !kept.has(gatewayNetworks[index]?.subnet ?? '')
  }
  const allowed = context.config.settings.POSTERN_GATEWAY_NETWORKS
  const invalid = listSubnetErrors(gatewayNetworks, ownNetworks(context), allowed).filter(isNew)
  const others = await listOtherGateways(tx, context.access, row?.id)
  const targets = await listLocalTargets(tx)
  const conflicts = listSubnetConflicts(gatewayNetworks, [...others, ...targets]).filter(isNew)
  const taken = conflicts.filter(({ field }) => invalid.every((error) => error.field !== field))
  return { invalid, taken, message: 'The subnet is taken' }
}

/** The networks that the tunnel, this machine, its routers and its name servers need for themselves. */
function ownNetworks({ tunnel, network, config }: Context): UsedNetwork[] {
  const machine = network()
  return [
    ...usedNetworks([tunnel.network4, tunnel.network6], 'the tunnel network'),
    ...usedNetworks(machine.networks, 'a network of this server itself'),
    ...usedNetworks([...machine.addresses, ...config.ownHosts], 'an address of this server itself'),
    ...usedNetworks(machine.dependsOn, 'which this server needs to reach the internet'),
  ]
}

async function listOtherGateways(tx: Tx, access: Access, nodeId: number | undefined): Promise<UsedNetwork[]> {
  const rows = await tx
    .selectFrom('nodes')
    .select(['id', 'name', 'gateway_networks'])
    .where('is_gateway', '=', 1)
    .orderBy('id')
    .execute()
  return rows
    .filter((row) => row.id !== nodeId)
    .flatMap((row) =>
      usedNetworks(
        networksOf(row).map(({ subnet }) => subnet),
        mayReachNode(access, row.id) ? `of ${quoted(row.name)}` : null,
      ),
    )
}

/** What services of the server's own machine lead to: they would end once it is behind a gateway. */
async function listLocalTargets(tx: Tx): Promise<UsedNetwork[]> {
  const rows = await tx
    .selectFrom('services')
    .innerJoin('nodes', 'nodes.id', 'services.node_id')
    .select(['services.name', 'backend_host'])
    .where('is_local', '=', 1)
    .where('services.enabled', '=', 1)
    .where('backend_host', 'is not', null)
    .orderBy('services.id')
    .execute()
  return rows.flatMap(({ name, backend_host: host }) =>
    usedNetworks([host ?? ''], `of ${quoted(name)} on the server's own machine`),
  )
}

/** A gateway must still cover the backends of its services. */
async function findLostServices(tx: Tx, form: Readable<NodeForm>, row?: NodeRow): Promise<Findings> {
  const { isGateway, gatewayNetworks } = form
  if (row === undefined || row.is_gateway === 0 || isGateway === undefined) return NOTHING
  const subnets = isGateway ? gatewayNetworks : []
  // One that cannot be parsed may be the one that covers it.
  if (!subnets || subnets.some(({ subnet }) => subnet === undefined)) return NOTHING
  const services = await tx
    .selectFrom('services')
    .select(['name', 'backend_host'])
    .where('node_id', '=', row.id)
    .orderBy('id')
    .execute()
  // A name is looked up again at every use, so it only needs a gateway.
  const isCovered = (host: string) =>
    findIp(host) === undefined ? isGateway : subnets.some((network) => isInside(host, network))
  const lost = services.filter(({ backend_host: host }) => host !== null && !isCovered(host))
  if (lost.length === 0) return NOTHING
  const names = quoteNames(lost.map(({ name }) => name))
  const field = isGateway ? 'gatewayNetworks' : 'isGateway'
  return {
    invalid: [],
    taken: [{ field, message: `is used by ${names}` }],
    message: `Services still use this gateway: ${names}`,
  }
}

function isInside(host: string, { subnet = '' }: Row): boolean {
  const [outer, inner] = [findCidr(subnet), findCidr(host)]
  return outer !== undefined && inner !== undefined && contains(outer, inner)
}

/** A network in use, and the words for its user; null: hidden from this person. */
interface UsedNetwork<What = string | null> {
  network: Cidr
  what: What
}

/** Those of the texts that are networks or addresses, each with the same words. */
function usedNetworks<What>(texts: readonly string[], what: What): UsedNetwork<What>[] {
  return texts.flatMap((text) => {
    const network = findCidr(text)
    return network ? [{ network, what }] : []
  })
}

/**
 * Why some of a gateway's subnets cannot be routed into the tunnel, by field of the form.
 * @param used what the tunnel and this machine need for themselves
 * @param allowed they must be inside these; null: no limit
 */
function listSubnetErrors(
  networks: readonly Row[],
  used: readonly UsedNetwork[],
  allowed: readonly string[] | null,
): FieldError[] {
  const isAllowed = (cidr: Cidr) => !allowed || findCidrs(allowed).some((outer) => contains(outer, cidr))
  return networks.flatMap(({ subnet = '' }, index) => {
    const cidr = findCidr(subnet)
    const fault = cidr && whyNotSubnet(cidr, networks.slice(0, index), used)
    const message = fault ?? (cidr && !isAllowed(cidr) ? NOT_ALLOWED : undefined)
    return message ? [{ field: `gatewayNetworks.${index}.subnet`, message }] : []
  })
}

const NOT_ALLOWED = 'is not in the networks that POSTERN_GATEWAY_NETWORKS allows'

function whyNotSubnet(cidr: Cidr, before: readonly Row[], used: readonly UsedNetwork[]): string | undefined {
  const twins = usedNetworks(
    before.flatMap(({ subnet }) => subnet ?? []),
    'of the same gateway',
  )
  const fault = findSubnetFault(cidr, [...used, ...twins])
  if (fault === 'special') return 'overlaps loopback, link-local, multicast or reserved addresses'
  if (fault === 'public') return MESSAGES.privateSubnet
  return fault && `overlaps ${formatCidr(fault.network)}, ${fault.what}`
}

/** The subnets that another gateway already has: an address cannot be behind both. */
function listSubnetConflicts(networks: readonly Row[], others: readonly UsedNetwork[]): FieldError[] {
  return networks.flatMap(({ subnet = '' }, index) => {
    const cidr = findCidr(subnet)
    const other = cidr && others.find(({ network }) => overlaps(network, cidr))
    if (!other) return []
    const message = other.what
      ? `overlaps ${formatCidr(other.network)} ${other.what}`
      : 'overlaps a network of something that you may not see'
    return [{ field: `gatewayNetworks.${index}.subnet`, message }]
  })
}
