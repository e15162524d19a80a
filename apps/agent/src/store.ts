import { rm, rmdir } from 'node:fs/promises'
import { AgentConfig } from '@postern/contract/agent/agent'
import { publicKey, wireGuardKey } from '@postern/contract/fields'
import * as z from 'zod/mini'
import type { AgentPaths } from './config.ts'
import { Published } from './discovery/published.ts'
import { OUTCOMES } from './errors.ts'
import { findJson, writePrivate } from './files.ts'
import { Policy, policyOf } from './policy.ts'

/** What connecting stores on the node: the server, its token, the roots to trust, and the tunnel's key. */
export const Credentials = z.object({
  url: z.string(),
  token: z.string(),
  /** PEM of the only certificate authority to trust; null: the system's. */
  ca: z.nullable(z.string()),
  interface: z.string().check(z.regex(/^[a-z][a-z0-9-]{0,14}$/)),
  privateKey: wireGuardKey,
  publicKey,
  /** What publishes this node's services besides people in the console: Docker's API, and a file. */
  docker: z.optional(z.string()),
  publishFile: z.optional(z.string()),
  /** What this node allows its server. */
  policy: z.optional(Policy),
})
export type Credentials = z.infer<typeof Credentials>

/** Credentials of an agent without a policy get one that keeps its present configuration. */
export async function findCredentials(paths: AgentPaths): Promise<Credentials | undefined> {
  const found = await findJson(paths.credentials, Credentials)
  if (!found || found.policy) return found
  const lastGood = await findLastGood(paths)
  return lastGood ? { ...found, policy: policyOf(lastGood) } : found
}

export function writeCredentials(paths: AgentPaths, credentials: Credentials): Promise<void> {
  return writePrivate(paths.credentials, `${JSON.stringify(credentials, null, 2)}\n`)
}

/** The last usable configuration, so that the tunnel comes up after a reboot even without the server. */
export function findLastGood(paths: AgentPaths): Promise<AgentConfig | undefined> {
  return findJson(paths.lastGood, AgentConfig)
}

export function writeLastGood(paths: AgentPaths, config: AgentConfig): Promise<void> {
  return writePrivate(paths.lastGood, `${JSON.stringify(config, null, 2)}\n`)
}

export async function removeCredentials(paths: AgentPaths): Promise<void> {
  await rm(paths.credentials, { force: true })
  await rm(paths.lastGood, { force: true })
  // A directory with other files stays, and so does a volume.
  await rmdir(paths.configDir).catch(() => undefined)
}

/**
 * `connecting`: just started. `online`: handshake and traffic. `no-handshake`: no answer over UDP. `no-traffic`:
 * handshakes, but the edge does not answer inside the tunnel. `disabled`: in the console. `refused`: the token is no
 * longer valid. `failed`: because of this machine or the server.
 */
export const AgentState = z.enum([
  'connecting',
  'online',
  'no-handshake',
  'no-traffic',
  'disabled',
  'refused',
  'failed',
])
export type AgentState = z.infer<typeof AgentState>

/** What the daemon sees of one edge. */
export const EdgeStatus = z.object({
  /** Empty when there is only that of an older server. */
  name: z.string(),
  publicKey: z.string(),
  /** Inside the tunnel. */
  address: z.string(),
  state: z.enum(['online', 'no-handshake', 'no-traffic']),
  /** In words; null when it is online. */
  problem: z.nullable(z.string()),
})
export type EdgeStatus = z.infer<typeof EdgeStatus>

/** The daemon's state for the other commands. */
export const DaemonStatus = z.object({
  version: z.string(),
  state: AgentState,
  /** The exit code that `connect` and `status` then have. */
  outcome: z.enum(OUTCOMES),
  /** Why it is not online, in words; null when it is. */
  problem: z.nullable(z.string()),
  /** Problems although the tunnel is up. */
  notes: z.array(z.string()),
  node: z.nullable(z.object({ id: z.number(), name: z.string() })),
  addresses: z.array(z.string()),
  /** The address of the edge beside the server, in the tunnel. */
  edgeAddress: z.nullable(z.string()),
  /** The edges while the tunnel is up; agents before there were several did not write it. */
  edges: z.optional(z.array(EdgeStatus)),
  serverReachable: z.boolean(),
  /** The outcomes for the services that this node's sources want to publish. */
  published: z.optional(z.array(Published)),
})
export type DaemonStatus = z.infer<typeof DaemonStatus>

export function findDaemonStatus(paths: AgentPaths): Promise<DaemonStatus | undefined> {
  return findJson(paths.status, DaemonStatus)
}

export function writeDaemonStatus(paths: AgentPaths, status: DaemonStatus): Promise<void> {
  return writePrivate(paths.status, `${JSON.stringify(status)}\n`)
}
