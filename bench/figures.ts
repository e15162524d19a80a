import * as z from 'zod/mini'

/** What one group measured: the cost of the same work in two situations of one run. */
export interface Measured {
  name: string
  /** The cost in the heavy situation, in `unit`. */
  heavy: number
  /** The cost in the light situation, in `unit`. */
  light: number
  unit: string
}

/** A measured pair compared with its limit. Smaller is better. */
export interface Figure extends Measured {
  ratio: number
  limit: number
  verdict: 'ok' | 'slow'
}

/** Name of a figure → the largest acceptable ratio. */
export const Limits = z.record(z.string(), z.number().check(z.positive()))
export type Limits = z.infer<typeof Limits>

/** The report of a run. `at` is RFC 3339. */
export const Report = z.object({
  at: z.string(),
  short: z.boolean(),
  figures: z.array(
    z.object({
      name: z.string(),
      heavy: z.number(),
      light: z.number(),
      unit: z.string(),
      ratio: z.number(),
      limit: z.number(),
      verdict: z.enum(['ok', 'slow']),
    }),
  ),
})
export type Report = z.infer<typeof Report>

/** A figure without a limit, or a limit without its figure. */
export class BenchError extends Error {
  readonly code = 'bench'
}

/** @throws BenchError unless each figure has a limit and each limit its figure */
export function judge(measured: readonly Measured[], limits: Limits): Figure[] {
  const unmeasured = Object.keys(limits).filter((name) => !measured.some((each) => each.name === name))
  if (unmeasured.length > 0) throw new BenchError(`not measured: ${unmeasured.join(', ')}`)
  return measured.map((each) => {
    const limit = limits[each.name]
    if (limit === undefined) throw new BenchError(`limits.json knows no "${each.name}"`)
    const ratio = each.heavy / each.light
    return { ...each, ratio, limit, verdict: ratio <= limit ? 'ok' : 'slow' }
  })
}

export function renderTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, ratio, limit, verdict, heavy, light, unit }) => [
    name,
    ratio.toFixed(2),
    limit.toFixed(2),
    verdict,
    `${heavy.toFixed(2)} / ${light.toFixed(2)} ${unit}`,
  ])
  const lines = [['name', 'ratio', 'limit', '', 'measured'], ...rows]
  const width = (column: number) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0))
  const widths = [0, 1, 2, 3].map(width)
  return lines
    .map((cells) =>
      cells
        .map((cell, column) =>
          column === 1 || column === 2
            ? cell.padStart(widths[column] ?? 0)
            : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
