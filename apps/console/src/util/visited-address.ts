import { isReservedPath } from '@postern/contract/reserved-paths'

/**
 * The address of a published service that a person comes from, by the link on one of the proxy's own pages; undefined for
 * a page of the console. Its query stays behind: it may hold what is secret.
 */
export function findVisitedAddress(referrer: string, consoleOrigin: string): string | undefined {
  const url = URL.parse(referrer)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return undefined
  if (url.origin === consoleOrigin && isReservedPath(url.pathname)) return undefined
  return url.origin + url.pathname
}
