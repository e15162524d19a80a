import { type Attempts, createAttempts } from './attempts.ts'
import { type Source, widerNetworksOf } from './sources.ts'

/** Wrong passwords of one account from one source; a lock on the account alone would let anyone lock the admin out. */
const PER_ACCOUNT = 5
/** Wrong passwords from one source over all accounts. */
const PER_SOURCE = 30
/** What providers hand out is a /56 or a /48, which is 256 or 65,536 sources in one hand. */
const PER_WIDER_NETWORK = { 56: 60, 48: 120 } as const
/** More than any count: known sources go before all others. */
const KNOWN_FIRST = 1000

/** An attempt to sign in, which counts as a failure until it is known to be none. */
export interface Attempt {
  /** The place in the line: how many failures its networks have, and all known sources before all others. */
  rank: number
  /** A right password: the account's failures from there are forgotten, and this attempt was none. */
  succeed(): void
  /** The password was not looked at. */
  undo(): void
}

export interface LoginLimits {
  /**
   * @param isKnown whether this account has signed in from there before, or it is this machine: then only the source's
   *   own failures count, so that a stranger's cannot lock it out
   * @throws TooManyError
   */
  take(username: string, source: Source, isKnown: boolean): Attempt
}

export function createLoginLimits(clock: () => number): LoginLimits {
  const attempts = createAttempts(clock)
  return {
    take(username, source, isKnown) {
      const account = `${source.network} ${username}`
      const networks = isKnown ? [] : listWider(source)
      attempts.check(account, PER_ACCOUNT)
      attempts.check(source.network, PER_SOURCE)
      for (const { key, max } of networks) attempts.check(key, max)
      const keys = [source.network, ...networks.map(({ key }) => key)]
      const rank = Math.max(...keys.map(attempts.count)) - (isKnown ? KNOWN_FIRST : 0)
      return { rank, ...countUntilKnown(attempts, account, keys) }
    },
  }
}

function listWider(source: Source): { key: string; max: number }[] {
  return widerNetworksOf(source).map(({ prefix, network }) => ({
    key: `${network}/${prefix}`,
    max: PER_WIDER_NETWORK[prefix],
  }))
}

/** Counted before the password is looked at, so that attempts side by side count as well. */
function countUntilKnown(attempts: Attempts, account: string, keys: readonly string[]) {
  const all = [account, ...keys]
  const add = (by: number) => {
    for (const key of all) attempts.add(key, by)
  }
  add(1)
  return {
    succeed() {
      add(-1)
      attempts.forget(account)
    },
    undo: () => add(-1),
  }
}
