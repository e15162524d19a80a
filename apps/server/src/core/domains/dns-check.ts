import { Resolver as DnsResolver } from 'node:dns/promises'
import { codeOf } from '@postern/host/errors'
import { findIp, formatIp } from '@postern/net/ip'

/** The name servers did not answer (`silent`), or with an error of theirs, by its name in DNS. */
export class LookupError extends Error {
  readonly why: string
  constructor(why: string, cause?: unknown) {
    super(why, { cause })
    this.why = why
  }
}

/** Asks the name servers; comes with the context, so that tests answer for them. */
export interface Resolver {
  /**
   * @returns the addresses (A and AAAA) of a name; empty when it has none.
   * @throws LookupError when the name servers did not say
   */
  resolve(name: string): Promise<string[]>
}

const TIMEOUT = 3000
const NO_RECORD = new Set(['ENOTFOUND', 'ENODATA'])
const SILENT = new Set(['ETIMEOUT', 'ECANCELLED', 'ECONNREFUSED'])
const FAILED = new Set(['ESERVFAIL', 'EREFUSED', 'EFORMERR', 'ENOTIMP', 'EBADRESP'])

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
      if (found.length > 0) return found
      const failed = answers.find(
        (answer) => answer.status === 'rejected' && !NO_RECORD.has(codeOf(answer.reason)),
      )
      if (failed?.status === 'rejected') throw toLookupError(failed.reason)
      return []
    },
  }
}

function toLookupError(reason: unknown): unknown {
  const code = codeOf(reason)
  if (SILENT.has(code)) return new LookupError('silent', reason)
  return FAILED.has(code) ? new LookupError(code.slice(1), reason) : reason
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
  const isAddress = findIp(publicHost) !== undefined
  const [found, target] = await Promise.all([
    lookUp(resolver, name),
    isAddress ? [publicHost] : lookUp(resolver, publicHost),
  ])
  // Of the name itself first: it is the one that was typed.
  if (typeof found === 'string') return found
  if (typeof target === 'string') return target
  return compare(name, found.map(spell), target.map(spell), ownAddresses.map(spell))
}

/** @returns the addresses, or in words why they are not known */
async function lookUp(resolver: Resolver, name: string): Promise<string[] | string> {
  try {
    return await resolver.resolve(name)
  } catch (error) {
    if (!(error instanceof LookupError)) throw error
    const why = error.why === 'silent' ? 'did not answer' : `answered with ${error.why}`
    return `${name} could not be looked up: the name servers ${why}`
  }
}

function compare(name: string, found: string[], target: string[], own: string[]): string | undefined {
  const here = target.length > 0 ? target.join(', ') : 'this server'
  if (found.length === 0) return `${name} has no DNS record. Point it to ${here}.`
  if (found.some((address) => target.includes(address) || own.includes(address))) return undefined
  return `${name} points to ${found.slice(0, 4).join(', ')}, not to ${here}`
}

function spell(address: string): string {
  const ip = findIp(address)
  return ip ? formatIp(ip) : address
}
