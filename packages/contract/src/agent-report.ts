import * as z from 'zod/mini'
import * as f from './fields.ts'

/** For each kind; an agent leaves out what exceeds it. */
export const MOST_REPORTED = 32

const uid = z.int().check(z.gte(0), z.lte(4_294_967_295))
const networks = z.array(f.ipOrCidr).check(z.maxLength(MOST_REPORTED))

/** A published port at which a program of another user listens than the one that visitors reach. */
const TakenPort = z.strictObject({
  proto: z.enum(['tcp', 'udp']),
  port: z.int().check(z.gte(1), z.lte(65535)),
  /** Where that other program listens: at the tunnel's address, or on 127.0.0.1. */
  place: z.enum(['tunnel', 'loopback']),
  user: uid,
  owner: uid,
})
export type TakenPort = z.infer<typeof TakenPort>

/** What the server wants of a node beyond the policy of the node. */
const Beyond = z.strictObject({
  /** Networks into which it shall forward. */
  gateway: networks,
  /** Addresses and networks outside of the tunnel as it was when the node connected. */
  tunnel: networks,
  allTraffic: z.boolean(),
  dns: z.boolean(),
})
export type Beyond = z.infer<typeof Beyond>

/** What an agent sees that people should know. Numbers, networks and names of a list: no text of a node is shown. */
export const AgentReport = z.strictObject({
  takenPorts: z.array(TakenPort).check(z.maxLength(MOST_REPORTED)),
  /** Networks of the tunnel to which another program of the node has the route. */
  takenRoutes: networks,
  beyond: Beyond,
})
export type AgentReport = z.infer<typeof AgentReport>

export const NOTHING_BEYOND: Beyond = { gateway: [], tunnel: [], allTraffic: false, dns: false }
