import { UnauthenticatedError } from '../../errors.ts'
import { createAttempts, HOUR_MS } from '../attempts.ts'
import { createLoginLimits } from '../login-limits.ts'
import type { Source } from '../sources.ts'

/** Wrong codes after one right password. */
const PER_STEP = 5
/**
 * Wrong codes of an app in an hour, of one account. With three right ones of a million, who has the password needs some
 * 20 years for an even chance. Networks that the account knows have a count of their own, so that a stranger cannot use theirs up.
 */
const PER_HOUR = 10

interface Try {
  /** The sign-in's own. */
  id: string
  /** The account, or what stands for all that are not known yet. */
  account: string
  source: Source
  isKnown: boolean
  /** Whether it is one of a million codes. Recovery codes and signatures cannot be guessed. */
  isShort: boolean
}

export interface FactorLimits {
  /**
   * Counts a try as wrong until it turns out otherwise, so that parallel ones count too.
   * @returns what to call when it was right; it ends the sign-in, which opens one session
   * @throws UnauthenticatedError when the sign-in has ended, TooManyError
   */
  take(attempt: Try): () => void
}

export function createFactorLimits(clock: () => number): FactorLimits {
  const steps = createAttempts(clock)
  const hours = createAttempts(clock, HOUR_MS)
  // Not those of passwords: a right password clears these.
  const logins = createLoginLimits(clock)
  return {
    take({ id, account, source, isKnown, isShort }) {
      if (steps.count(id) >= PER_STEP) throw signInOver()
      const hour = `${account} ${isKnown}`
      if (isShort) hours.check(hour, PER_HOUR)
      const attempt = logins.take(account, source, isKnown)
      steps.add(id, 1)
      if (isShort) hours.add(hour, 1)
      return () => {
        // A second right answer came first.
        if (steps.count(id) >= PER_STEP) throw signInOver()
        steps.add(id, PER_STEP)
        if (isShort) hours.add(hour, -1)
        attempt.succeed()
      }
    },
  }
}

export function signInOver(): UnauthenticatedError {
  return new UnauthenticatedError('This sign-in has ended. Sign in again.', 'sign_in_over')
}
