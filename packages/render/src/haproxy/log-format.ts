import { routeField } from './maps/routes.ts'
import type { HaproxyOptions, HaproxyPaths } from './options.ts'

/** Fields as apps/edge reads them; the last may hold any character. The second is a number by which lost lines are noticed. */
export function logFormat({ logSecret }: HaproxyOptions, paths: HaproxyPaths): string {
  const facts = `%[var(txn.route),${routeField('service')}]|%lc|%ST|%[var(txn.end)]%ts|%[bc_err]`
  const visit = '%[date(0,ms)]|%[var(sess.source)]|%B|%Ta'
  const why = `%[var(txn.route),${routeField('node')},map_str(${paths.nodes})]|%[var(txn.why)]`
  return `"E|${logSecret}|${facts}|${visit}|${why}|%[var(txn.line)]"`
}
