import type { IssuedCertificate } from '../certificates/issue.ts'
import type { Context } from '../context.ts'
import { findDnsProblem } from './dns-check.ts'

/**
 * Checks a name that is about to become a domain and makes its certificate. Outside of any transaction: name
 * servers take their time.
 */
export async function prepareDomain(
  context: Context,
  domain: string,
  skipValidation: boolean,
): Promise<{ issued: IssuedCertificate } | { problem: string }> {
  const { publicHost } = context.config
  if (domain === publicHost)
    return { problem: 'This is the address of the installation itself: leave the domain empty to use it' }
  if (!skipValidation) {
    const own = context.network().addresses.filter((address) => !/^(127\.|::1$|fe80:)/.test(address))
    const problem = await findDnsProblem(context.resolver, domain, publicHost, own)
    if (problem !== undefined) return { problem }
  }
  return { issued: await context.authority.issue([domain]) }
}
