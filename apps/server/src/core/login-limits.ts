import { findIp, formatIp } from '@postern/net/ip'
import { createAttempts } from './attempts.ts'

/** Wrong passwords of one account from one address; a lock on the account alone would let anyone lock the admin out. */
const PER_ACCOUNT = 5
/** Wrong passwords from one address over all accounts. */
const PER_ADDRESS = 30

/** Counts attempts to sign in. */
export interface LoginLimits {
  /** Counts this attempt as a failure until `forgive`. @throws TooManyError */
  take(username: string, address: string): void
  /** A right password: the account's failures from there are forgotten, and this attempt was none. */
  forgive(username: string, address: string): void
}

export function createLoginLimits(clock: () => number): LoginLimits {
  const { check, add, forget } = createAttempts(clock)
  return {
    take(username, address) {
      const network = networkOf(address)
      const account = `${network} ${username}`
      check(account, PER_ACCOUNT)
      check(network, PER_ADDRESS)
      // Counted before the password is looked at, so that attempts side by side count as well.
      add(account, 1)
      add(network, 1)
    },
    forgive(username, address) {
      const network = networkOf(address)
      forget(`${network} ${username}`)
      add(network, -1)
    },
  }
}

/** One household has a whole /64 of IPv6 addresses, so they count as one. */
export function networkOf(address: string): string {
  const ip = findIp(address.replace(/^::ffff:(?=\d+\.)/i, ''))
  if (!ip) return 'local'
  return ip.family === 4 ? formatIp(ip) : formatIp({ family: 6, value: (ip.value >> 64n) << 64n })
}
