import type { RenewalWindow } from '../acme/client.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** In this last part of its lifetime, a certificate is renewed whatever the authority's window. */
const LAST_SHARE = 1 / 8
/** As a share of a certificate's lifetime, so that those issued together are not renewed together. */
const JITTER = 0.05

export interface Life {
  notBefore: Date
  notAfter: Date
}

/** When to place an order again after a number of failures in a row, in ms since the epoch: a minute to a day later. */
export function nextTryAt(now: number, failures: number, random: number, retryAfter = 0): number {
  const wait = Math.min(MINUTE * 2 ** Math.min(failures - 1, 20), DAY)
  return now + Math.max(wait * (1 - random / 4), retryAfter)
}

/** When about two thirds of the lifetime are over, and never at once, because the authority's clock may differ. */
export function renewalAt({ notBefore, notAfter }: Life, now: number, random: number): number {
  const life = notAfter.getTime() - notBefore.getTime()
  const planned = notBefore.getTime() + life * (2 / 3 - random * JITTER)
  return Math.floor(Math.max(planned, now + Math.min(life * LAST_SHARE, DAY)))
}

/**
 * When the authority wants a certificate to be renewed (RFC 9773, 4.2).
 * @param planned stays if it is in the window: choosing again with every question would favour its beginning
 * @param issued ms since the epoch: not before an hour after that
 */
export function renewalInWindow(
  { start, end }: RenewalWindow,
  { notBefore, notAfter }: Life,
  { planned, issued, random }: { planned: number; issued: number; random: number },
): number {
  const life = notAfter.getTime() - notBefore.getTime()
  const latest = notAfter.getTime() - life * LAST_SHARE
  const chosen = planned >= start && planned <= end ? planned : start + random * (end - start)
  return Math.floor(Math.max(Math.min(chosen, latest), issued + HOUR))
}

/** How long to wait between polls, in ms; the authority may ask for less or more. */
export function pollWait(polls: number, retryAfter: number | undefined): number {
  const wait = retryAfter ?? Math.min(100 * 2 ** polls, 5000)
  return Math.min(Math.max(wait, 100), MINUTE)
}
