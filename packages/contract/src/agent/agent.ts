import * as z from 'zod/mini'
import * as f from '../fields.ts'
import { LIMITS } from '../limits.ts'
import { GatewayNetwork } from '../nodes.ts'

/** The agent makes the node's key itself and registers the public half. */
export const RegisterKey = z.strictObject({ publicKey: f.publicKey })
export type RegisterKey = z.infer<typeof RegisterKey>

/** As many as nft takes in a second: with more an agent would be without its table. */
export const MOST_TARGETS = 4096
const ports = z.array(z.int().check(z.gte(1), z.lte(65535))).check(z.maxLength(MOST_TARGETS))

/** The ports to which the enabled services of a node lead on the node itself; they may share one. */
export const NodeTargets = z.object({ tcp: ports, udp: ports })
export type NodeTargets = z.infer<typeof NodeTargets>

/** An edge's end of the tunnel, as a node calls it. */
export const TunnelEnd = z.object({
  publicKey: z.string(),
  presharedKey: z.string(),
  /** `host:port`, the host in brackets when it is an IPv6 address. */
  endpoint: z.string(),
  allowedIps: z.array(z.string()),
  keepaliveSeconds: z.number(),
})
export type TunnelEnd = z.infer<typeof TunnelEnd>

/** All an agent needs to be in the tunnel; its private key never leaves the node. */
export const AgentConfig = z.object({
  node: z.object({ id: z.number(), name: z.string(), enabled: z.boolean() }),
  /** With prefix length, both families. */
  addresses: z.array(z.string()),
  dns: z.array(z.string()),
  /** The public key that the server holds for this node, or null when none is registered. */
  publicKey: z.nullable(z.string()),
  gateway: z.nullable(z.array(GatewayNetwork)),
  /** The edge beside the server: all that older agents know. */
  peer: TunnelEnd,
  /** That edge's address inside the tunnel, which the agent asks to see whether the tunnel carries traffic. */
  edgeAddress: z.string(),
  /**
   * Every edge, by number, the one beside the server first; older servers do not send it. Their networks lie in each
   * other, and the longest prefix wins.
   */
  edges: z.optional(
    z
      .array(z.object({ id: z.number(), name: z.string(), peer: TunnelEnd, edgeAddress: z.string() }))
      .check(z.maxLength(LIMITS.edges)),
  ),
  /** All that the edge may reach on the node. */
  targets: NodeTargets,
  /** Whether the agent may publish services of the node by itself; older servers do not send it. */
  mayPublish: z.optional(z.boolean()),
})
export type AgentConfig = z.infer<typeof AgentConfig>

/** Over the agent's socket the server only says that something changed; the agent then reads the configuration. */
export const AgentHint = z.object({ type: z.literal('changed') })
export type AgentHint = z.infer<typeof AgentHint>
