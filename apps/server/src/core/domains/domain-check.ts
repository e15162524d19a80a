import type { Context } from '../../context.ts'
import { findDnsProblem } from './dns-check.ts'

/** Why a name cannot be a domain, in words. Outside of any transaction: name servers take their time. */
export async function findDomainProblem(
  context: Context,
  domain: string,
  skipValidation: boolean,
): Promise<string | undefined> {
  const { publicHost } = context.config
  if (domain === publicHost)
    return 'This is the address of the installation itself: leave the domain empty to use it'
  if (skipValidation) return undefined
  const own = context.network().addresses.filter((address) => !/^(127\.|::1$|fe80:)/.test(address))
  return await findDnsProblem(context.resolver, domain, publicHost, own)
}
