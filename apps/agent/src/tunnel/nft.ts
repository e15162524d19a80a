import type { Exec } from '@postern/host/processes/exec'
import * as z from 'zod/mini'
import { AgentError } from '../errors.ts'
import { parseJson } from '../files.ts'
import { runTool, tryTool } from '../tools.ts'

/** One of our nftables tables. */
export interface Table {
  /** `text` replaces the table as a whole. Runs `nft` only when the text, or the table in force, has changed. */
  apply(text: string): Promise<void>
  remove(): Promise<void>
}

/** Keeps a table in force. It remembers how the kernel prints the table, to notice when others change it. */
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

const PortSet = z.object({ name: z.string(), type: z.unknown(), elem: z.optional(z.array(z.unknown())) })
const PortSets = z.object({ nftables: z.array(z.object({ set: z.optional(PortSet) })) })

/** The numbers in the sets of one of our tables, by the sets' names. Empty when the table does not exist. */
export async function readPortSets(exec: Exec, name: string): Promise<Map<string, number[]>> {
  const listed = await tryTool(exec, 'nft', ['-j', 'list', 'table', 'inet', name])
  const rows = parseJson(listed?.stdout ?? '', PortSets)?.nftables ?? []
  return new Map(
    rows.flatMap(({ set }) =>
      set ? [[set.name, (set.elem ?? []).filter((port) => typeof port === 'number')]] : [],
    ),
  )
}

const Chain = z.object({
  family: z.string(),
  table: z.string(),
  name: z.string(),
  hook: z.optional(z.string()),
  policy: z.optional(z.string()),
})
const Chains = z.object({ nftables: z.array(z.object({ chain: z.optional(Chain) })) })

const OURS = ['postern_agent_', 'postern_services_']

/** Other programs' chains at one of the kernel's hooks. */
export async function listChains(exec: Exec, hook: 'forward' | 'input') {
  const listed = await tryTool(exec, 'nft', ['-j', 'list', 'chains'])
  const rows = parseJson(listed?.stdout ?? '', Chains)?.nftables ?? []
  return rows.flatMap(({ chain }) =>
    chain?.hook === hook && !OURS.some((prefix) => chain.table.startsWith(prefix)) ? [chain] : [],
  )
}

/** Those that drop everything that no rule allows. One with a rule about the interface `name` is left out. */
export async function listDroppingChains(exec: Exec, hook: 'forward' | 'input', name: string) {
  const found: string[] = []
  for (const chain of await listChains(exec, hook)) {
    if (chain.policy !== 'drop') continue
    const table = await tryTool(exec, 'nft', ['list', 'table', chain.family, chain.table])
    if (!table?.stdout.includes(`"${name}"`)) found.push(`${chain.family} ${chain.table} ${chain.name}`)
  }
  return found
}
