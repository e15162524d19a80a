import { costMs } from '@postern/testkit/time'

/** How long one group may take for its rounds, in ms; a slow machine gets fewer of them. */
const PATIENCE_MS = 20_000

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('the median of nothing')
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN
}

/** All but the slowest hundredth are as quick as this. */
export function slowest(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
}

export interface Work {
  /** What is measured. */
  run(): Promise<unknown>
  /** What has to be done before, unmeasured. */
  prepare?(): Promise<unknown>
}

/**
 * Does the heavy and the light work of this process in turns, so that a machine that is busy for a while is busy
 * for both. One round of each comes first and does not count.
 * @returns the medians in ms of processor time: on a busy machine the clock goes on while long work has to wait,
 * and short work does not wait at all
 */
export async function compareCosts(
  rounds: number,
  work: { heavy: Work; light: Work },
): Promise<{ heavy: number; light: number }> {
  const costs: Record<'heavy' | 'light', number[]> = { heavy: [], light: [] }
  await costOf(work.heavy)
  await costOf(work.light)
  const deadline = performance.now() + PATIENCE_MS
  for (let round = 0; round < rounds && (round < 3 || performance.now() < deadline); round++)
    for (const side of ['heavy', 'light'] as const) costs[side].push(await costOf(work[side]))
  return { heavy: median(costs.heavy), light: median(costs.light) }
}

async function costOf({ run, prepare }: Work): Promise<number> {
  await prepare?.()
  return await costMs(run)
}
