const STEPS = [
  { name: 'year', ms: 31_536_000_000 },
  { name: 'month', ms: 2_592_000_000 },
  { name: 'day', ms: 86_400_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
  { name: 'second', ms: 1000 },
] as const

/** `12 seconds ago`; a dash for nothing. Times are ms since the epoch; a clock that is behind reads as now. */
export function formatRelativeTime(time: number | null | undefined, now: number): string {
  if (!time) return '-'
  const age = Math.max(0, now - time)
  const step = STEPS.find(({ ms }) => age >= ms)
  if (!step) return 'just now'
  const count = Math.floor(age / step.ms)
  return `${count} ${step.name}${count === 1 ? '' : 's'} ago`
}
