import type { Exec } from '@postern/host/exec'
import { findText } from '@postern/host/files'
import { findIp, formatIp } from '@postern/net/ip'
import { tryTool } from '../tools.ts'

/** The name servers of this machine, as resolv.conf names them; at most three, as everybody reads it. */
export async function listNameServers(path = '/etc/resolv.conf'): Promise<string[]> {
  const text = (await findText(path)) ?? ''
  return text
    .split('\n')
    .flatMap((line) => {
      const ip = findIp(/^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? '')
      return ip ? [formatIp(ip)] : []
    })
    .slice(0, 3)
}

/**
 * Tells systemd-resolved to ask these name servers through the tunnel. Without it the machine keeps its own,
 * for its files belong to others. @returns what could not be had, in words.
 */
export async function applyDns(exec: Exec, name: string, dns: readonly string[]): Promise<string[]> {
  if (dns.length === 0) {
    await tryTool(exec, 'resolvectl', ['revert', name])
    return []
  }
  const taken = await tryTool(exec, 'resolvectl', ['dns', name, ...dns])
  const routed = taken?.code === 0 && (await tryTool(exec, 'resolvectl', ['domain', name, '~.']))
  if (routed && routed.code === 0) return []
  return [
    `The name servers of the node (${dns.join(', ')}) are not used: this machine has no systemd-resolved`,
  ]
}
