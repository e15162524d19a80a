import { Resolver as DnsResolver } from 'node:dns/promises'
import { findIp, formatIp } from '@postern/net/ip'

/** Asks the name servers; comes with the context, so that tests answer for them. */
export interface Resolver {
  /**
   * @returns the addresses (A and AAAA) of a name; empty when it has none.
   * @throws when nobody answered in time.
   */
  resolve(name: string): Promise<string[]>
}

const TIMEOUT = 3000
const NO_RECORD = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Asks for both families at once; an answer of one is enough.
 * @param servers `address[:port]`; without any, those of the system
 */
export function createResolver(servers: readonly string[] = []): Resolver {
  return {
    async resolve(name) {
      const dns = new DnsResolver({ timeout: TIMEOUT / 2, tries: 2 })
      if (servers.length > 0) dns.setServers(servers)
      const late = setTimeout(() => dns.cancel(), TIMEOUT)
      const answers = await Promise.allSettled([dns.resolve4(name), dns.resolve6(name)])
      clearTimeout(late)
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      const failed = answers.find((answer) => answer.status === 'rejected' && !hasNoRecord(answer.reason))
      if (found.length === 0 && failed?.status === 'rejected') throw failed.reason
      return found
    },
  }
}

function hasNoRecord(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && NO_RECORD.has(String(reason.code))
}

/**
 * Whether a name leads to this machine.
 * @param publicHost the address or name that visitors use
 * @param ownAddresses the machine's own addresses, at which a name may point as well
 * @returns undefined when it does, otherwise words that name what was found
 */
export async function findDnsProblem(
  resolver: Resolver,
  name: string,
  publicHost: string,
  ownAddresses: readonly string[],
): Promise<string | undefined> {
  try {
    const isAddress = findIp(publicHost) !== undefined
    const [found, target] = await Promise.all([
      resolver.resolve(name),
      isAddress ? [publicHost] : resolver.resolve(publicHost),
    ])
    return compare(name, found.map(spell), target.map(spell), ownAddresses.map(spell))
  } catch {
    // Whatever the resolver says of itself helps nobody: what counts is that nothing is known of the name.
    return `${name} could not be looked up: the name servers did not answer`
  }
}

function compare(name: string, found: string[], target: string[], own: string[]): string | undefined {
  const here = target.length > 0 ? target.join(', ') : 'this server'
  if (found.length === 0) return `${name} does not exist in DNS: let it point to ${here}`
  if (found.some((address) => target.includes(address) || own.includes(address))) return undefined
  return `${name} points to ${found.slice(0, 4).join(', ')}, not to ${here}`
}

function spell(address: string): string {
  const ip = findIp(address)
  return ip ? formatIp(ip) : address
}
