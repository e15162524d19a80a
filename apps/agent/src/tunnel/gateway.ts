import { readdirSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import type { Exec } from '@postern/host/exec'
import { findText } from '@postern/host/files'
import { gatewayTable, renderGatewayTable } from '@postern/net/gateway-table'
import * as z from 'zod/mini'
import { AgentError } from '../errors.ts'
import { parseJson, writePrivate } from '../files.ts'
import { runTool, tryTool } from '../tools.ts'

const FORWARD4 = '/proc/sys/net/ipv4/ip_forward'
const FORWARD6 = '/proc/sys/net/ipv6/conf/all/forwarding'

/** Keeps the table in force; remembers how the kernel prints it, so that a change behind our back is seen. */
export function createGateway(exec: Exec, name: string, forwardingMark: string) {
  let applied = ''
  let printed: string | undefined

  async function apply(subnets: readonly string[]): Promise<string[]> {
    await enableForwarding(forwardingMark, subnets)
    const text = `${renderGatewayTable(name, subnets).join('\n')}\n`
    if (text !== applied || (await findTable(exec, name)) !== printed) {
      const { code, stderr } = await runTool(exec, 'nft', ['-f', '-'], { input: text })
      if (code !== 0) throw new AgentError('failed', `nft: ${stderr.trim()}`)
      applied = text
      printed = await findTable(exec, name)
    }
    return await listForwardProblems(exec, name)
  }
  return { apply }
}
export type Gateway = ReturnType<typeof createGateway>

export async function removeGateway(exec: Exec, name: string, forwardingMark: string): Promise<void> {
  if ((await findTable(exec, name)) !== undefined)
    await runTool(exec, 'nft', ['delete', 'table', 'inet', gatewayTable(name)])
  if ((await findText(forwardingMark)) === undefined) return
  // Whoever came to rely on forwarding has a chain there; switching it off would cut them.
  if ((await listForwardChains(exec)).length === 0) await writeFile(FORWARD4, '0')
  await rm(forwardingMark, { force: true })
}

async function enableForwarding(mark: string, subnets: readonly string[]): Promise<void> {
  if ((await readFile(FORWARD4, 'utf8')).trim() === '0') {
    await writePrivate(mark, 'on because of postern\n')
    await writeFile(FORWARD4, '1')
  }
  if (!subnets.some((subnet) => subnet.includes(':'))) return
  if ((await findText(FORWARD6))?.trim() !== '0') return
  // A router ignores router advertisements unless told otherwise, and would lose its own default route.
  for (const device of readdirSync('/proc/sys/net/ipv6/conf')) {
    const path = `/proc/sys/net/ipv6/conf/${device}/accept_ra`
    if ((await findText(path))?.trim() === '1') await writeFile(path, '2')
  }
  await writeFile(FORWARD6, '1')
}

async function findTable(exec: Exec, name: string): Promise<string | undefined> {
  const listed = await tryTool(exec, 'nft', ['-s', 'list', 'table', 'inet', gatewayTable(name)])
  return listed?.code === 0 ? listed.stdout : undefined
}

const Chains = z.object({
  nftables: z.array(
    z.object({
      chain: z.optional(
        z.object({
          family: z.string(),
          table: z.string(),
          name: z.string(),
          hook: z.optional(z.string()),
          policy: z.optional(z.string()),
        }),
      ),
    }),
  ),
})

/** The chains of others that every forwarded packet goes through. */
async function listForwardChains(exec: Exec) {
  const listed = await tryTool(exec, 'nft', ['-j', 'list', 'chains'])
  const rows = parseJson(listed?.stdout ?? '', Chains)?.nftables ?? []
  return rows.flatMap(({ chain }) =>
    chain?.hook === 'forward' && !chain.table.startsWith('postern_agent_') ? [chain] : [],
  )
}

async function listForwardProblems(exec: Exec, name: string): Promise<string[]> {
  const dropping = (await listForwardChains(exec)).filter(({ policy }) => policy === 'drop')
  return dropping.map(
    (chain) =>
      `A firewall of this machine (nftables chain ${chain.family} ${chain.table} ${chain.name}) drops forwarded ` +
      `packets unless it has a rule for them: allow packets that come in by ${name}, and their answers`,
  )
}
