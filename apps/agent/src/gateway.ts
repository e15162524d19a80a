import { readdirSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import * as z from 'zod/mini'
import { AgentError } from './errors.ts'
import type { Exec } from './exec.ts'
import { findText, parseJson, writePrivate } from './files.ts'

const FORWARD4 = '/proc/sys/net/ipv4/ip_forward'
const FORWARD6 = '/proc/sys/net/ipv6/conf/all/forwarding'

/** One table for each interface, so that two agents on one machine do not meet. */
function gatewayTable(name: string): string {
  return `postern_agent_${name.replaceAll('-', '_')}`
}

/** A bit of the packet mark that nobody else is known to use; it survives until the packet leaves. */
const MARK = '0x00200000'

/**
 * From the tunnel only to the subnets, seen there as this machine; into the tunnel only answers, because
 * forwarding makes this machine a router for its neighbours too.
 */
export function renderGateway(name: string, subnets: readonly string[]): string {
  const v4 = subnets.filter((subnet) => !subnet.includes(':'))
  const v6 = subnets.filter((subnet) => subnet.includes(':'))
  const table = gatewayTable(name)
  const set = (label: string, type: string, elements: string[]) =>
    `  set ${label} { type ${type}; flags interval;${elements.length > 0 ? ` elements = { ${elements.join(', ')} }` : ''} }`
  return [
    `add table inet ${table}`,
    `delete table inet ${table}`,
    `table inet ${table} {`,
    set('subnets4', 'ipv4_addr', v4),
    set('subnets6', 'ipv6_addr', v6),
    '  chain forward {',
    '    type filter hook forward priority filter; policy accept;',
    `    oifname "${name}" ct state established,related accept`,
    `    oifname "${name}" drop`,
    `    iifname "${name}" ip daddr @subnets4 meta mark set meta mark | ${MARK} accept`,
    `    iifname "${name}" ip6 daddr @subnets6 meta mark set meta mark | ${MARK} accept`,
    `    iifname "${name}" drop`,
    '  }',
    '  chain postrouting {',
    '    type nat hook postrouting priority srcnat; policy accept;',
    `    oifname != "${name}" meta mark & ${MARK} == ${MARK} masquerade`,
    '  }',
    '}',
    '',
  ].join('\n')
}

/** Keeps the table in force; remembers how the kernel prints it, so that a change behind our back is seen. */
export function createGateway(exec: Exec, name: string, forwardingMark: string) {
  let applied = ''
  let printed: string | undefined

  async function apply(subnets: readonly string[]): Promise<string[]> {
    await enableForwarding(forwardingMark, subnets)
    const text = renderGateway(name, subnets)
    if (text !== applied || (await findTable(exec, name)) !== printed) {
      const { code, stderr } = await exec.run('nft', ['-f', '-'], { input: text })
      if (code === 127)
        throw new AgentError('tools-missing', 'nft is missing. Install it: apt-get install nftables')
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
    await exec.run('nft', ['delete', 'table', 'inet', gatewayTable(name)])
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
  const { code, stdout } = await exec.run('nft', ['-s', 'list', 'table', 'inet', gatewayTable(name)])
  return code === 0 ? stdout : undefined
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
  const { stdout } = await exec.run('nft', ['-j', 'list', 'chains'])
  const rows = parseJson(stdout, Chains)?.nftables ?? []
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
