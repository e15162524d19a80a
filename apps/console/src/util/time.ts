const day = new Intl.DateTimeFormat('en-US', { month: '2-digit', day: '2-digit', year: 'numeric' })
const moment = new Intl.DateTimeFormat('en-US', {
  ...{ month: '2-digit', day: '2-digit', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'short' },
})

function find(time: string | number | null | undefined): Date | undefined {
  if (time === null || time === undefined) return undefined
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? undefined : date
}

/** MM/dd/yyyy in the browser's time zone; a dash for nothing. */
export function formatDate(time: string | number | null | undefined): string {
  const date = find(time)
  return date ? day.format(date) : '-'
}

/** The same with the time and its zone: `11/22/2026, 15:04:05 UTC`. */
export function formatMoment(time: string | number | null | undefined): string {
  const date = find(time)
  return date ? moment.format(date) : '-'
}

const ago = new Intl.RelativeTimeFormat('en-US')
const STEPS = [
  { unit: 'year', ms: 31_536_000_000 },
  { unit: 'month', ms: 2_592_000_000 },
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1000 },
] as const

/** `12 seconds ago`; a dash for nothing. Times are ms since the epoch; a clock that is behind reads as now. */
export function formatRelativeTime(time: number | null | undefined, now: number): string {
  if (!time) return '-'
  const step = STEPS.find(({ ms }) => now - time >= ms)
  return step ? ago.format(-Math.floor((now - time) / step.ms), step.unit) : 'just now'
}

/** `2 h` until a time in ms since the epoch, rounded; seconds are rounded up, so that `0 s` means now. */
export function formatTimeLeft(time: number, now: number): string {
  const seconds = Math.max(Math.ceil((time - now) / 1000), 0)
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  const hours = Math.round(seconds / 3600)
  return hours < 36 ? `${hours} h` : `${Math.round(hours / 24)} days`
}
