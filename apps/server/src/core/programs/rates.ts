import { LIMITS } from '@postern/contract/limits'
import { TooManyError } from '../errors.ts'

const MINUTE_MS = 60_000
const PER_MS = LIMITS.apiTokenRequests / MINUTE_MS
/** Most tokens to remember; above this, budgets that are whole again are forgotten, and then the oldest. */
const MAX_TOKENS = 10_000

/** How many requests each API token may still make: a minute's number at once, which then comes back over a minute. */
export interface ProgramRates {
  /** @throws TooManyError with the time until the next one is free */
  take(tokenId: number): void
}

interface Budget {
  left: number
  /** ms since the epoch. */
  at: number
}

export function createProgramRates(clock: () => number): ProgramRates {
  const budgets = new Map<number, Budget>()
  const leftOf = ({ left, at }: Budget, now: number) =>
    Math.min(LIMITS.apiTokenRequests, left + Math.max(now - at, 0) * PER_MS)
  const forget = (now: number) => {
    for (const [tokenId, budget] of budgets)
      if (leftOf(budget, now) >= LIMITS.apiTokenRequests) budgets.delete(tokenId)
    for (const tokenId of budgets.keys()) {
      if (budgets.size < MAX_TOKENS) break
      budgets.delete(tokenId)
    }
  }
  return {
    take(tokenId) {
      const now = clock()
      const known = budgets.get(tokenId)
      const left = known ? leftOf(known, now) : LIMITS.apiTokenRequests
      if (left < 1)
        throw new TooManyError(
          Math.ceil((1 - left) / PER_MS / 1000),
          'Too many requests with this API token, try again later',
        )
      if (!known && budgets.size >= MAX_TOKENS) forget(now)
      budgets.delete(tokenId)
      budgets.set(tokenId, { left: left - 1, at: now })
    },
  }
}
