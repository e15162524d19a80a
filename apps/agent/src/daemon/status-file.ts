import * as z from 'zod/mini'
import { OUTCOMES } from '../exit-codes.ts'
import { findJson, writePrivate } from '../files.ts'
import type { AgentPaths } from '../paths.ts'

/**
 * `connecting`: just begun. `online`: handshake and traffic. `no-handshake`: no answer over UDP. `no-traffic`:
 * handshakes, but the edge does not answer inside. `disabled`: by the console. `refused`: the token is not
 * valid any more. `failed`: this machine or the server does not let it come about.
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

/** What the daemon says of itself to the other commands. */
export const DaemonStatus = z.object({
  version: z.string(),
  state: AgentState,
  /** What `connect` and `status` end with because of it. */
  outcome: z.enum(OUTCOMES),
  /** Why it is not online, in words; null when it is. */
  problem: z.nullable(z.string()),
  /** What does not work although the tunnel stands. */
  notes: z.array(z.string()),
  node: z.nullable(z.object({ id: z.number(), name: z.string() })),
  addresses: z.array(z.string()),
  edgeAddress: z.nullable(z.string()),
  serverReachable: z.boolean(),
})
export type DaemonStatus = z.infer<typeof DaemonStatus>

export function findDaemonStatus(paths: AgentPaths): Promise<DaemonStatus | undefined> {
  return findJson(paths.status, DaemonStatus)
}

export function writeDaemonStatus(paths: AgentPaths, status: DaemonStatus): Promise<void> {
  return writePrivate(paths.status, `${JSON.stringify(status)}\n`)
}
