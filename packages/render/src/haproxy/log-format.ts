import type { HaproxyOptions, HaproxyPaths } from './options.ts'

/**
 * Fields as apps/edge reads them; the last may hold any character.
 * @param counter by which lost lines are noticed; `-` where the lines are not counted
 */
export function logFormat({ logSecret }: HaproxyOptions, paths: HaproxyPaths, counter: '%lc' | '-'): string {
  const facts = `%[var(txn.route),field(1,|)]|${counter}|%ST|%ts|%[bc_err]`
  const visit = '%[date(0,ms)]|%[var(sess.source)]|%B|%Ta'
  const why = `%[var(txn.route),field(2,|),map_str(${paths.nodes})]|%[var(txn.why)]`
  return `"E|${logSecret}|${facts}|${visit}|${why}|%[var(txn.line)]"`
}
