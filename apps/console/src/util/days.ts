/** A day of the calendar without a time zone, like `2026-11-22`. Later days are greater. */
export type Day = string

const pad = (value: number, length = 2): string => String(value).padStart(length, '0')
const join = (year: number, month: number, date: number): Day => `${pad(year, 4)}-${pad(month)}-${pad(date)}`

/** The day that it is now in the browser's time zone. */
export function today(now = new Date()): Day {
  return join(now.getFullYear(), now.getMonth() + 1, now.getDate())
}

/** The last moment of a day in the browser's time zone. */
export function endOfDay(day: Day): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date, 23, 59, 59, 999)
}

/** Parses MM/dd/yyyy, also without leading zeros or without slashes. */
export function findDay(text: string): Day | undefined {
  const match = /^(\d{1,2})\/(\d{1,2})\/([1-9]\d{3})$/.exec(text) ?? /^(\d\d)(\d\d)([1-9]\d{3})$/.exec(text)
  if (!match) return undefined
  const [month = 0, date = 0, year = 0] = match.slice(1).map(Number)
  // A day that the month does not have would become one of the next month.
  const isThere = new Date(Date.UTC(year, month - 1, date)).getUTCMonth() + 1 === month
  return isThere ? join(year, month, date) : undefined
}

/** MM/dd/yyyy. */
export function renderDay(day: Day): string {
  const [year, month, date] = day.split('-')
  return `${month}/${date}/${year}`
}
