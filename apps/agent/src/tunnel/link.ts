import { LIMITS } from '@postern/contract/limits'
import type { Exec } from '@postern/host/processes/exec'
import * as z from 'zod/mini'
import { AgentError } from '../errors.ts'
import { familyOf, ip, listRows, runTool, tryTool } from '../tools.ts'

const LinkRow = z.object({
  ifname: z.string(),
  flags: z.array(z.string()),
  mtu: z.number(),
  ifalias: z.optional(z.string()),
})

/** The alias of an agent's interface; the agent never changes or removes one without it. */
function linkAlias(configDir: string): string {
  return `postern-agent:${configDir}`
}

/** @returns the names of the interfaces with our alias */
export async function listOwnLinks(exec: Exec, configDir: string): Promise<string[]> {
  const rows = await listRows(exec, LinkRow, 'link', 'show')
  return rows.filter(({ ifalias }) => ifalias === linkAlias(configDir)).map(({ ifname }) => ifname)
}

/** True when the name is free or marked as ours, or is a WireGuard interface that has no key yet. */
export async function isLinkOurs(exec: Exec, name: string, configDir: string): Promise<boolean> {
  const link = await findLink(exec, name)
  if (!link || link.ifalias === linkAlias(configDir)) return true
  // Left by an agent that was killed between creating and marking it.
  const { code, stdout } = await runTool(exec, 'wg', ['show', name, 'public-key'])
  return code === 0 && link.ifalias === undefined && stdout.trim() === '(none)'
}

/** Ensures that the interface exists, is ours and is up. */
export async function applyLink(exec: Exec, name: string, configDir: string): Promise<void> {
  if (!(await isLinkOurs(exec, name, configDir))) throw interfaceTaken(name)
  const alias = linkAlias(configDir)
  const before = await findLink(exec, name)
  if (!before) await createLink(exec, name)
  if (before?.ifalias !== alias) await ip(exec, 'link', 'set', 'dev', name, 'alias', alias)
  if (before?.mtu !== LIMITS.tunnelMtu || !before.flags.includes('UP'))
    await ip(exec, 'link', 'set', 'dev', name, 'mtu', String(LIMITS.tunnelMtu), 'up')
}

export function interfaceTaken(name: string): AgentError {
  return new AgentError(
    'interface-taken',
    `The network interface ${name} belongs to another program. Choose another name: --interface NAME`,
  )
}

export async function removeLink(exec: Exec, name: string, configDir: string): Promise<void> {
  const link = await findLink(exec, name)
  if (link?.ifalias === linkAlias(configDir)) await ip(exec, 'link', 'del', 'dev', name)
}

export async function findLink(exec: Exec, name: string) {
  const rows = await listRows(exec, LinkRow, 'link', 'show')
  return rows.find(({ ifname }) => ifname === name)
}

async function createLink(exec: Exec, name: string): Promise<void> {
  const kernel = await runTool(exec, 'ip', ['link', 'add', 'dev', name, 'type', 'wireguard'])
  if (kernel.code === 0) return
  const userspace = await tryTool(exec, 'wireguard-go', [name], { background: true })
  if (!userspace)
    throw new AgentError(
      'tools-missing',
      "This machine's kernel has no WireGuard. Install the userspace version: apt-get install --no-install-recommends wireguard-go",
    )
  if (userspace.code !== 0)
    throw new AgentError(
      'failed',
      `wireguard-go could not create the interface ${name}. Check that /dev/net/tun exists`,
    )
}

const AddressRow = z.object({
  addr_info: z.array(z.object({ local: z.string(), prefixlen: z.number(), scope: z.string() })),
})

/** Gives the interface exactly these addresses (`address/prefix`) besides those that the kernel assigns. */
export async function applyAddresses(exec: Exec, name: string, wanted: readonly string[]): Promise<void> {
  const rows = await listRows(exec, AddressRow, 'addr', 'show', 'dev', name)
  const found = rows
    .flatMap(({ addr_info }) => addr_info)
    .filter(({ scope }) => scope === 'global')
    .map(({ local, prefixlen }) => `${local}/${prefixlen}`)
  for (const address of found.filter((one) => !wanted.includes(one)))
    await ip(exec, familyOf(address), 'addr', 'del', address, 'dev', name)
  for (const address of wanted.filter((one) => !found.includes(one)))
    await ip(exec, familyOf(address), 'addr', 'add', address, 'dev', name)
}
