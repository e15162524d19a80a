import { routeField } from './maps/routes.ts'
import type { HaproxyOptions, HaproxyPaths } from './options.ts'

/** Bytes of a query: with the longest path and all else it fits into one line of the ring. */
const MAX_LOGGED_QUERY = 1500

/**
 * Fields as apps/edge reads them; the last may hold any character. The second is a number that shows when lines were
 * lost.
 */
export function logFormat({ logSecret, logQuery }: HaproxyOptions, paths: HaproxyPaths): string {
  const facts = `%[var(txn.route),${routeField('service')}]|%lc|%ST|%[var(txn.end)]%ts|%[bc_err]`
  const visit = '%[date(0,ms)]|%[var(sess.source)]|%B|%U|%Ta|%Tc|%Tr|%si:%sp'
  const why = `%[var(txn.route),${routeField('node')},map_str(${paths.nodes})]|%[var(txn.why)]`
  const asked = logQuery ? '%[var(txn.line)]?%[var(txn.asked)]' : '%[var(txn.line)]'
  return `"E|${logSecret}|${facts}|${visit}|${why}|%[var(txn.email),url_enc]|${asked}"`
}

/** Behind the cuts, which take the console's sessions out of a query; what its own pages ask for is in no log. */
export function renderLoggedQuery({ logQuery }: HaproxyOptions, condition: string): string {
  return logQuery ? `  http-request set-var(txn.asked) query,bytes(0,${MAX_LOGGED_QUERY}) ${condition}\n` : ''
}
