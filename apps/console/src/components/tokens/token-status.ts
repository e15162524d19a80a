import type { Pat } from '@postern/contract/pats'

/** `now` in ms since the epoch. */
export function tokenStatus({ revoked, expireAt }: Pick<Pat, 'revoked' | 'expireAt'>, now: number) {
  if (revoked) return 'Revoked'
  return expireAt !== null && Date.parse(expireAt) < now ? 'Expired' : 'Active'
}
