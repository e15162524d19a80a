import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'

/** The agent that other hosts download from here; `sha256` in hex. */
export interface AgentBundle {
  content: Buffer
  sha256: string
}

/** @returns null when the agent was not built. */
export function readAgentBundle(rootDir: string): AgentBundle | null {
  const file = `${rootDir}/apps/agent/dist/postern.mjs`
  if (!existsSync(file)) return null
  const content = readFileSync(file)
  return { content, sha256: createHash('sha256').update(content).digest('hex') }
}
