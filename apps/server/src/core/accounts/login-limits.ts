import { type Attempts, createAttempts } from './attempts.ts'
import { type Source, widerNetworksOf } from './sources.ts'

/** Wrong passwords of one account from one source; a lock on the account alone would let anyone lock the admin out. */
const PER_ACCOUNT = 5
/** Wrong passwords from one source over all accounts. */
const PER_SOURCE = 30
/** Providers assign a /56 or a /48, so one customer has 256 or 65,536 sources. */
const PER_WIDER_NETWORK = { 56: 60, 48: 120 } as const
/** More than any count, so that known sources go before all others, and root at the console's socket before these. */
const KNOWN_FIRST = 1000

/** An attempt to sign in, which counts as a failure until it turns out otherwise. */
export interface Attempt {
  /** The place in the queue: by the failures of its networks, with root's and then all known sources first. */
  rank: number
  /** Right password: clears the account's failures from this source, including this attempt. */
  succeed(): void
  /** The password was not checked: takes the failure back. */
  undo(): void
}

export interface LoginLimits {
  /**
   * @param isKnown whether this account has signed in from there before, or it is this machine's own: then only the
   *   source's own failures count, so that a stranger's cannot lock it out
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
      const advance = source.own === 'socket' ? 2 : isKnown ? 1 : 0
      const keys = [source.network, ...networks.map(({ key }) => key)]
      const rank = Math.max(...keys.map(attempts.count)) - advance * KNOWN_FIRST
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

/** Counted before the password is checked, so that parallel attempts count too. */
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
