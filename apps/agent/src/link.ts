import { LIMITS } from '@postern/contract/limits'
import * as z from 'zod/mini'
import { AgentError } from './errors.ts'
import type { Exec } from './exec.ts'
import { ip, listRows } from './ip-command.ts'

const LinkRow = z.object({
  ifname: z.string(),
  flags: z.array(z.string()),
  mtu: z.number(),
  ifalias: z.optional(z.string()),
})

/** The name under which an agent marks its interface, so that it never touches or removes somebody else's. */
function linkAlias(configDir: string): string {
  return `postern-agent:${configDir}`
}

/** @returns the names of the interfaces that bear our mark. */
export async function listOwnLinks(exec: Exec, configDir: string): Promise<string[]> {
  const rows = await listRows(exec, LinkRow, 'link', 'show')
  return rows.filter(({ ifalias }) => ifalias === linkAlias(configDir)).map(({ ifname }) => ifname)
}

/** True when the name is free or marked as ours, or is a WireGuard interface that has no key yet. */
export async function isLinkOurs(exec: Exec, name: string, configDir: string): Promise<boolean> {
  const link = await findLink(exec, name)
  if (!link || link.ifalias === linkAlias(configDir)) return true
  // A kill between making and marking leaves this behind.
  const { code, stdout } = await exec.run('wg', ['show', name, 'public-key'])
  return code === 0 && link.ifalias === undefined && stdout.trim() === '(none)'
}

/** Makes the interface be there, ours and up. @returns what carries it out. */
export async function applyLink(exec: Exec, name: string, configDir: string): Promise<void> {
  if (!(await isLinkOurs(exec, name, configDir)))
    throw new AgentError(
      'interface-taken',
      `The network interface ${name} belongs to another program. Choose another name: --interface NAME`,
    )
  const alias = linkAlias(configDir)
  const before = await findLink(exec, name)
  if (!before) await createLink(exec, name)
  if (before?.ifalias !== alias) await ip(exec, 'link', 'set', 'dev', name, 'alias', alias)
  if (before?.mtu !== LIMITS.tunnelMtu || !before.flags.includes('UP'))
    await ip(exec, 'link', 'set', 'dev', name, 'mtu', String(LIMITS.tunnelMtu), 'up')
}

export async function removeLink(exec: Exec, name: string, configDir: string): Promise<void> {
  const link = await findLink(exec, name)
  if (link?.ifalias === linkAlias(configDir)) await ip(exec, 'link', 'del', 'dev', name)
}

async function findLink(exec: Exec, name: string) {
  const rows = await listRows(exec, LinkRow, 'link', 'show')
  return rows.find(({ ifname }) => ifname === name)
}

async function createLink(exec: Exec, name: string): Promise<void> {
  const kernel = await exec.run('ip', ['link', 'add', 'dev', name, 'type', 'wireguard'])
  if (kernel.code === 0) return
  const userspace = await exec.run('wireguard-go', [name], { background: true })
  if (userspace.code === 127)
    throw new AgentError(
      'tools-missing',
      'The kernel of this machine has no WireGuard. Install it for user space: apt-get install wireguard-go',
    )
  if (userspace.code !== 0)
    throw new AgentError(
      'failed',
      `wireguard-go could not make the interface ${name}: is there /dev/net/tun?`,
    )
}
