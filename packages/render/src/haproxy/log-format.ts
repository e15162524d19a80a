import type { HaproxyOptions, HaproxyPaths } from './options.ts'

/**
 * Fields as apps/edge reads them; the last may hold any character.
 * @param counter by which lost lines are noticed; `-` where the lines are not counted
 */
export function logFormat({ logSecret }: HaproxyOptions, paths: HaproxyPaths, counter: '%lc' | '-'): string {
  const visit = `%[var(txn.id)]|%[date(0,ms)]|%ci|${counter}|%ST|%B|%Ta`
  const end = `%ts|%[bc_err]|%[var(txn.node),map_str(${paths.nodes})]|%[var(txn.why)]`
  return `"E|${logSecret}|${visit}|${end}|%[var(txn.line)]"`
}
