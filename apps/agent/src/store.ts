import { rm } from 'node:fs/promises'
import { AgentConfig } from '@postern/contract/agent'
import { publicKey, wireGuardKey } from '@postern/contract/fields'
import * as z from 'zod/mini'
import { findJson, writePrivate } from './files.ts'
import type { AgentPaths } from './paths.ts'

/** What connecting leaves on the node: whom to ask, the token, whom to trust, and the key of the tunnel. */
export const Credentials = z.object({
  url: z.string(),
  token: z.string(),
  /** PEM of the only certificate authority to trust; null: those of the system. */
  ca: z.nullable(z.string()),
  interface: z.string().check(z.regex(/^[a-z][a-z0-9-]{0,14}$/)),
  privateKey: wireGuardKey,
  publicKey,
})
export type Credentials = z.infer<typeof Credentials>

export function findCredentials(paths: AgentPaths): Promise<Credentials | undefined> {
  return findJson(paths.credentials, Credentials)
}

export function writeCredentials(paths: AgentPaths, credentials: Credentials): Promise<void> {
  return writePrivate(paths.credentials, `${JSON.stringify(credentials, null, 2)}\n`)
}

/** The last configuration that could be used, so that a reboot without the server still brings the tunnel up. */
export function findLastGood(paths: AgentPaths): Promise<AgentConfig | undefined> {
  return findJson(paths.lastGood, AgentConfig)
}

export function writeLastGood(paths: AgentPaths, config: AgentConfig): Promise<void> {
  return writePrivate(paths.lastGood, `${JSON.stringify(config, null, 2)}\n`)
}

export async function removeCredentials(paths: AgentPaths): Promise<void> {
  await rm(paths.credentials, { force: true })
  await rm(paths.lastGood, { force: true })
}
