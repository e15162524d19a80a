import { findText } from '@postern/host/files'
import type { Exec } from '@postern/host/processes/exec'
import { RESOLV_CONFS } from '@postern/host/resolv-confs'
import { findIp, formatIp } from '@postern/net/ip'
import { tryTool } from '../tools.ts'

/** This machine's name servers from resolv.conf. At most three, as every resolver reads it. */
export async function listNameServers(path = '/etc/resolv.conf'): Promise<string[]> {
  return nameServersIn((await findText(path)) ?? '')
}

function nameServersIn(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => {
      const ip = findIp(/^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? '')
      return ip ? [formatIp(ip)] : []
    })
    .slice(0, 3)
}

/** Also those that systemd-resolved or NetworkManager asks for this machine. */
export async function listAllNameServers(exec: Pick<Exec, 'readFile'>): Promise<string[]> {
  const texts = await Promise.all(RESOLV_CONFS.map((path) => exec.readFile(path)))
  return [...new Set(texts.flatMap((text = '') => nameServersIn(text)))]
}

/**
 * Tells systemd-resolved to ask these name servers through the tunnel. Without systemd-resolved the machine keeps its
 * own, because resolv.conf belongs to other programs.
 * @returns what did not work, in words
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
    `This machine has no systemd-resolved, so it does not use the node's name servers (${dns.join(', ')})`,
  ]
}
