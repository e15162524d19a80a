import { isIp } from '@postern/net/ip'
import * as z from 'zod/mini'
import { Mute } from './alerts/mute.ts'
import * as f from './fields.ts'
import { LIMITS } from './limits.ts'
import { listOrPage, orderBy, pageQuery, searchText } from './lists.ts'
import { MESSAGES } from './messages.ts'

export const GatewayNetwork = z.strictObject({ interface: f.interfaceName, subnet: f.subnet })
export type GatewayNetwork = z.infer<typeof GatewayNetwork>

const dns = f.blankable(
  z.string().check(
    z.trim(),
    z.maxLength(500),
    z.refine((text) => text.split(/[\s,]+/).every((part) => part === '' || isIp(part)), MESSAGES.dns),
  ),
)
const keepalive = z
  .int(MESSAGES.keepalive)
  .check(z.gte(0, MESSAGES.keepalive), z.lte(65535, MESSAGES.keepalive))

function share(usual: number, most: number) {
  const message = `Enter a number from 0 to ${most}.`
  return f.withDefault(z.int(message).check(z.gte(0, message), z.lte(most, message)), usual)
}

const nodeFields = {
  name: f.name,
  address: f.blankable(f.ipv4),
  dns,
  keepalive: f.withDefault(keepalive, LIMITS.keepaliveSeconds),
  isGateway: f.withDefault(z.boolean(), false),
  gatewayNetworks: f.listOf(GatewayNetwork, LIMITS.gatewayNetworks),
  allowInternet: f.withDefault(z.boolean(), false),
  /** Whether its agent may publish services of the node by itself. */
  agentMayPublish: f.withDefault(z.boolean(), false),
  /** Domains that its agent may use even if DNS does not point to the server: names, or `*.name` for all below one. */
  agentDomains: f.listOf(f.domainOrBelow, LIMITS.agentGivenDomains),
  /** How much its agent may publish; entries are those of its IP lists. Services that people publish do not count. */
  agentMaxServices: share(LIMITS.agentServices, LIMITS.agentServicesMost),
  agentMaxDomains: share(LIMITS.agentPublishedDomains, LIMITS.agentPublishedDomainsMost),
  agentMaxPorts: share(LIMITS.agentPorts, LIMITS.agentPortsMost),
  agentMaxEntries: share(LIMITS.agentEntries, LIMITS.agentEntriesMost),
  advanced: f.withDefault(z.boolean(), false),
}

/** What a person can set for a node. Without `address` the server takes the next free one. */
export const NodeForm = z.strictObject(nodeFields).check(
  z.refine((form) => !form.isGateway || form.gatewayNetworks?.length > 0, {
    path: ['gatewayNetworks'],
    error: MESSAGES.gatewayNetworks,
    ...f.together,
  }),
)
export type NodeForm = z.infer<typeof NodeForm>
export type NodeFormInput = z.input<typeof NodeForm>

export const NodeStatus = z.enum(['online', 'idle', 'offline'])
export type NodeStatus = z.infer<typeof NodeStatus>

/** Counters are bytes; `latestHandshakeTimestamp` is ms since the epoch. The local node's address is `localhost`. */
export const Node = z.object({
  id: z.number(),
  name: z.string(),
  address: z.string(),
  dns: z.nullable(z.string()),
  keepalive: z.number(),
  allowInternet: z.boolean(),
  agentMayPublish: z.boolean(),
  agentDomains: z.array(z.string()),
  agentMaxServices: z.number(),
  agentMaxDomains: z.number(),
  agentMaxPorts: z.number(),
  agentMaxEntries: z.number(),
  advanced: z.boolean(),
  isGateway: z.boolean(),
  gatewayNetworks: z.nullable(z.array(z.object({ interface: z.string(), subnet: z.string() }))),
  isLocal: z.boolean(),
  /** The node's key came with the downloaded file, so no agent runs there. */
  usesFile: z.boolean(),
  /** How many of all edges the file that was downloaded last knows; null for a node without one. */
  fileEdges: z.nullable(z.object({ known: z.number(), all: z.number() })),
  enabled: z.boolean(),
  status: NodeStatus,
  /** The problem that an edge reports for this node, in words; null: none. */
  problem: z.nullable(z.string()),
  clientIp: z.nullable(z.string()),
  latestHandshakeTimestamp: z.nullable(z.number()),
  transferRx: z.number(),
  transferTx: z.number(),
  /** How many services are deleted together with the node. */
  services: z.number(),
  /** How many of its access tokens are deleted with it. */
  tokens: z.number(),
  mute: Mute,
  created_at: f.time,
  updated_at: f.time,
})
export type Node = z.infer<typeof Node>

/** The answer to a creation: the node and, only here, its access token. */
export const CreatedNode = z.extend(Node, { token: z.string() })
export type CreatedNode = z.infer<typeof CreatedNode>

const NODE_ORDER = ['name', 'created_at', 'transferRx', 'transferTx', 'latestHandshakeTimestamp'] as const

const nodeQuery = {
  ...pageQuery,
  type: z.optional(z.enum(['nodes', 'gateways'])),
  search: searchText,
  orderBy: orderBy(NODE_ORDER),
}
export const NodeQuery = z.strictObject(nodeQuery)
export type NodeQuery = z.infer<typeof NodeQuery>

/** With `id` the stream sends that node, else the rows of the list that the other keys describe. */
export const NodeStreamQuery = z.strictObject({
  ...nodeQuery,
  id: z.optional(f.idText),
  token: z.optional(z.string()),
})
export type NodeStreamQuery = z.infer<typeof NodeStreamQuery>

export const NodeList = listOrPage(Node)
