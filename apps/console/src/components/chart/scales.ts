import { formatBytes } from '../../util/bytes.ts'

/** What a value counts. */
export type Unit = 'count' | 'bytes' | 'ms'

/** The top of an axis, and the values at its lines, the lowest first. */
export interface Scale {
  top: number
  ticks: readonly number[]
}

/** About so many lines across a chart. */
const LINES = 4

/** @param most the highest value that is shown */
export function scaleFor(most: number, unit: Unit): Scale {
  const step = stepFor(Math.max(most, 0) / LINES, unit)
  const count = Math.max(Math.ceil(most / step), 1)
  return { top: step * count, ticks: Array.from({ length: count + 1 }, (_, index) => index * step) }
}

/** The next number that people like: 1, 2 or 5 of a power of ten, for bytes within their unit of 1024. */
function stepFor(least: number, unit: Unit): number {
  let base = 1
  if (unit === 'bytes') while (least / base > 500) base *= 1024
  for (let power = 1; ; power *= 10)
    for (const factor of [1, 2, 5]) if (factor * power * base >= least) return factor * power * base
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const grouped = new Intl.NumberFormat('en-US')
const short = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

/** The label of a line of the axis, which has little room: `2K`, `10 MB`, `1.5 s`. */
export function tickText(value: number, unit: Unit): string {
  if (value === 0) return '0'
  if (unit === 'count') return compact.format(value)
  return unit === 'bytes' ? formatBytes(value).replace('.00 ', ' ') : timeText(value)
}

/** In full: `1,234`, `9.41 MB`, `0.5 ms`; a dash for nothing measured. */
export function valueText(value: number | null, unit: Unit): string {
  if (value === null) return '-'
  if (unit === 'count') return grouped.format(value)
  return unit === 'bytes' ? formatBytes(value).replace(/^-$/, '0 Bytes') : timeText(value)
}

function timeText(ms: number): string {
  if (ms >= 1000) return `${short.format(ms / 1000)} s`
  return `${ms < 10 ? short.format(ms) : Math.round(ms)} ms`
}
