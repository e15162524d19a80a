const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
const PARTS = /^(\d{1,9}[smhdw])+$/

/** The seconds of a length of time like `90m`, `1h30m`, `7d`, or `45` for seconds; undefined when it is none. */
export function findDuration(text: string): number | undefined {
  const parts = text.trim().toLowerCase().replaceAll(' ', '')
  if (/^\d{1,9}$/.test(parts)) return Number(parts)
  if (!PARTS.test(parts)) return undefined
  let seconds = 0
  for (const [, count, unit = ''] of parts.matchAll(/(\d+)([smhdw])/g))
    seconds += Number(count) * (UNITS[unit] ?? 0)
  return seconds
}
