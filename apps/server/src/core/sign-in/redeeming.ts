import { createAttempts } from '../accounts/attempts.ts'
import { type Source, sourceOf, widerNetworksOf } from '../accounts/sources.ts'
import type { Account, Provider } from './provider.ts'

/**
 * Redeems codes that came with a browser. Strangers can send invented ones: sources with the most failures wait longest.
 * @param address of the request
 * @throws ProviderError, UnavailableError
 */
type Redeem = (
  provider: Provider,
  answer: URL,
  question: Parameters<Provider['redeem']>[1],
  address: string,
) => Promise<Account>

export function createRedeeming(clock: () => number): Redeem {
  const failures = createAttempts(clock)
  return async (provider, answer, question, address) => {
    const networks = networksOf(sourceOf({ address, isBehindProxy: true }))
    const rank = Math.max(...networks.map(failures.count))
    for (const network of networks) failures.add(network, 1)
    const account = await provider.redeem(answer, question, rank)
    for (const network of networks) failures.add(network, -1)
    return account
  }
}

function networksOf(source: Source): string[] {
  const wider = widerNetworksOf(source).map(({ prefix, network }) => `${network}/${prefix}`)
  return [source.network, ...wider]
}

/** The limit on entries: beyond it, the oldest are dropped. */
const MAX_USED = 20_000

/** @returns whether something is used for the first time; each is remembered until it expires anyway */
export function createOnce(clock: () => number, seconds: number): (id: string) => boolean {
  const used = new Map<string, number>()
  return (id) => {
    const now = clock()
    for (const [old, until] of used) {
      if (until > now && used.size < MAX_USED) break
      used.delete(old)
    }
    if (used.has(id)) return false
    used.set(id, now + seconds * 1000)
    return true
  }
}

export const stateOf = (answer: URL) => answer.searchParams.get('state') ?? ''
