import * as z from 'zod/mini'
import * as f from '../fields.ts'

/** Most entries of each kind; an agent leaves out the rest. */
export const MOST_REPORTED = 32

const uid = z.int().check(z.gte(0), z.lte(4_294_967_295))
const networks = z.array(f.ipOrCidr).check(z.maxLength(MOST_REPORTED))

/** A published port on which another user's program also listens, besides the one that visitors reach. */
const TakenPort = z.strictObject({
  proto: z.enum(['tcp', 'udp']),
  port: z.int().check(z.gte(1), z.lte(65535)),
  /** Where the other program listens: on the tunnel's address, or on 127.0.0.1. */
  place: z.enum(['tunnel', 'loopback']),
  user: uid,
  owner: uid,
})
export type TakenPort = z.infer<typeof TakenPort>

/** What the server asks of a node that the node's own policy forbids. */
const Beyond = z.strictObject({
  /** Networks into which the node is to forward. */
  gateway: networks,
  /** Addresses and networks outside the tunnel as it was when the node connected. */
  tunnel: networks,
  allTraffic: z.boolean(),
  dns: z.boolean(),
})
export type Beyond = z.infer<typeof Beyond>

/**
 * What an agent sees that people should know. Numbers, networks and names from a fixed list: the console shows no
 * text that a node made up.
 */
export const AgentReport = z.strictObject({
  takenPorts: z.array(TakenPort).check(z.maxLength(MOST_REPORTED)),
  /** Networks of the tunnel that another program on the node has routed elsewhere. */
  takenRoutes: networks,
  beyond: Beyond,
})
export type AgentReport = z.infer<typeof AgentReport>

export const NOTHING_BEYOND: Beyond = { gateway: [], tunnel: [], allTraffic: false, dns: false }
