import type { Exec } from '@postern/host/exec'
import * as z from 'zod/mini'
import { AgentError } from '../errors.ts'
import { parseJson } from '../files.ts'
import { runTool, tryTool } from '../tools.ts'

/** One of our nftables tables. */
export interface Table {
  /** `text` replaces the table as a whole. Runs `nft` only when the text, or what is in force, has changed. */
  apply(text: string): Promise<void>
  remove(): Promise<void>
}

/** Keeps a table in force. It remembers how the kernel prints the table, and so notices when others change it. */
export function createTable(exec: Exec, name: string): Table {
  let applied = ''
  let printed: string | undefined

  async function find(): Promise<string | undefined> {
    const listed = await tryTool(exec, 'nft', ['-s', 'list', 'table', 'inet', name])
    return listed?.code === 0 ? listed.stdout : undefined
  }

  return {
    async apply(text) {
      if (text === applied && (await find()) === printed) return
      const { code, stderr } = await runTool(exec, 'nft', ['-f', '-'], { input: text })
      if (code !== 0) throw new AgentError('failed', `nft: ${stderr.trim()}`)
      applied = text
      printed = await find()
    },
    async remove() {
      if ((await find()) !== undefined) await runTool(exec, 'nft', ['delete', 'table', 'inet', name])
      applied = ''
      printed = undefined
    },
  }
}

const Chain = z.object({
  family: z.string(),
  table: z.string(),
  name: z.string(),
  hook: z.optional(z.string()),
  policy: z.optional(z.string()),
})
const Chains = z.object({ nftables: z.array(z.object({ chain: z.optional(Chain) })) })

/** The chains of other programs that every forwarded packet passes. */
export async function listForwardChains(exec: Exec) {
  const listed = await tryTool(exec, 'nft', ['-j', 'list', 'chains'])
  const rows = parseJson(listed?.stdout ?? '', Chains)?.nftables ?? []
  return rows.flatMap(({ chain }) =>
    chain?.hook === 'forward' && !chain.table.startsWith('postern_agent_') ? [chain] : [],
  )
}
