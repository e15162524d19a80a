import { Resolver as DnsResolver } from 'node:dns/promises'
import { codeOf } from '@postern/host/errors'

/**
 * There is no such name (`absent`), the name servers did not answer (`silent`), or they answered with an error, given
 * by its DNS name.
 */
export class LookupError extends Error {
  readonly why: string
  constructor(why: string, cause?: unknown) {
    super(why, { cause })
    this.why = why
  }
}

/** Asks the name servers; part of the context, so that tests can replace it. */
export interface Resolver {
  /**
   * @returns the addresses (A and AAAA) of a name; empty when it has none.
   * @throws LookupError when there is no such name, or the name servers did not say
   */
  resolve(name: string): Promise<string[]>
}

const TIMEOUT = 3000
const NO_ADDRESS = 'ENODATA'
const ABSENT = 'ENOTFOUND'
const SILENT = new Set(['ETIMEOUT', 'ECANCELLED', 'ECONNREFUSED'])
const FAILED = new Set(['ESERVFAIL', 'EREFUSED', 'EFORMERR', 'ENOTIMP', 'EBADRESP'])

/**
 * Asks for both families at once; an answer for one is enough.
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
      const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
      const worst = failed.find((reason) => ![NO_ADDRESS, ABSENT].includes(codeOf(reason)))
      if (worst !== undefined) throw toLookupError(worst)
      if (failed.some((reason) => codeOf(reason) === ABSENT)) throw new LookupError('absent')
      return []
    },
  }
}

function toLookupError(reason: unknown): unknown {
  const code = codeOf(reason)
  if (SILENT.has(code)) return new LookupError('silent', reason)
  return FAILED.has(code) ? new LookupError(code.slice(1), reason) : reason
}
