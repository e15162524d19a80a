import { costMs } from '@postern/testkit/time'

/** Time limit for the rounds of one group, in ms; a slow machine does fewer rounds. */
const PATIENCE_MS = 20_000

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('no values to take the median of')
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN
}

/** All but the slowest hundredth are at least as quick as this. */
export function slowest(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
}

export interface Work {
  /** The measured work. */
  run(): Promise<unknown>
  /** Preparation that is not measured. */
  prepare?(): Promise<unknown>
}

/**
 * Alternates between the heavy and the light work of this process, so that a busy spell of the machine affects both.
 * A first round of each does not count.
 * @returns the medians in ms of processor time, since on a busy machine long work is interrupted more often than
 * short work
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
