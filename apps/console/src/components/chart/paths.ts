/**
 * The path of a line through values, oldest first; it breaks where there is none.
 * @param floor the y of the axis: the path then is the area down to it
 */
export function linePath(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
  floor?: number,
): string {
  return runsOf(values)
    .map(({ start, run }) => {
      const points = run.map((value, offset) => `${x(start + offset).toFixed(1)},${y(value).toFixed(1)}`)
      if (floor === undefined) return run.length === 1 ? `M${points[0]}h0` : `M${points.join('L')}`
      const end = start + run.length - 1
      return `M${x(start).toFixed(1)},${floor}L${points.join('L')}L${x(end).toFixed(1)},${floor}Z`
    })
    .join('')
}

/** The values between those that are missing. */
function runsOf(values: readonly (number | null)[]): { start: number; run: number[] }[] {
  const runs: { start: number; run: number[] }[] = []
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const last = runs.at(-1)
    if (last && last.start + last.run.length === index) last.run.push(value)
    else runs.push({ start: index, run: [value] })
  }
  return runs
}
