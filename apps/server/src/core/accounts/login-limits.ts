import { type Attempts, createAttempts } from './attempts.ts'
import { type Source, widerNetworksOf } from './sources.ts'

/** Wrong passwords of one account from one source; a lock on the account alone would let anyone lock the admin out. */
const PER_ACCOUNT = 5
/** Wrong passwords from one source over all accounts. */
const PER_SOURCE = 30
/** Wrong passwords in one session, wherever its requests come from: who has it may move through networks. */
const PER_SESSION = 10
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
   * @param username null: it is not known yet whose account it is
   * @param isKnown whether this account has signed in from there before, or it is this machine's own: then only the
   *   source's own failures count, so that a stranger's cannot lock it out
   * @param sessionId the session in which the password is given once more
   * @throws TooManyError
   */
  take(username: string | null, source: Source, isKnown: boolean, sessionId?: number): Attempt
}

export function createLoginLimits(clock: () => number): LoginLimits {
  const attempts = createAttempts(clock)
  return {
    take(username, source, isKnown, sessionId) {
      const account = username === null ? null : `${source.network} ${username}`
      const session = sessionId === undefined ? [] : [`session ${sessionId}`]
      const networks = isKnown ? [] : listWider(source)
      for (const key of session) attempts.check(key, PER_SESSION)
      if (account !== null) attempts.check(account, PER_ACCOUNT)
      attempts.check(source.network, PER_SOURCE)
      for (const { key, max } of networks) attempts.check(key, max)
      const advance = source.own === 'socket' ? 2 : isKnown ? 1 : 0
      const keys = [source.network, ...networks.map(({ key }) => key)]
      const rank = Math.max(...keys.map(attempts.count)) - advance * KNOWN_FIRST
      return { rank, ...countUntilKnown(attempts, account, [...keys, ...session]) }
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
function countUntilKnown(attempts: Attempts, account: string | null, keys: readonly string[]) {
  const all = account === null ? keys : [account, ...keys]
  const add = (by: number) => {
    for (const key of all) attempts.add(key, by)
  }
  add(1)
  return {
    succeed() {
      add(-1)
      if (account !== null) attempts.forget(account)
    },
    undo: () => add(-1),
  }
}
