/** A day of the calendar without a time zone, like `2026-11-22`. Later days are greater. */
export type Day = string

const DAY_MS = 86_400_000
/** Reckoned in UTC, where every day has 24 hours. */
const msOf = (day: Day): number => Date.parse(day)
const dayOf = (ms: number): Day => new Date(ms).toISOString().slice(0, 10)

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

/** Reads MM/dd/yyyy, also without its zeros or without its slashes. */
export function findDay(text: string): Day | undefined {
  const match = /^(\d{1,2})\/(\d{1,2})\/([1-9]\d{3})$/.exec(text) ?? /^(\d\d)(\d\d)([1-9]\d{3})$/.exec(text)
  if (!match) return undefined
  const [month = 0, date = 0, year = 0] = match.slice(1).map(Number)
  const day = join(year, month, date)
  const ms = msOf(day)
  // A date that its month does not have reads as one of the next month.
  return Number.isNaN(ms) || dayOf(ms) !== day ? undefined : day
}

/** MM/dd/yyyy. */
export function renderDay(day: Day): string {
  const [year, month, date] = day.split('-')
  return `${month}/${date}/${year}`
}

export function addDays(day: Day, count: number): Day {
  return dayOf(msOf(day) + count * DAY_MS)
}

/** The same day of another month, or its last one. */
export function addMonths(day: Day, count: number): Day {
  const from = new Date(msOf(day))
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + count]
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return dayOf(Date.UTC(year, month, Math.min(from.getUTCDate(), last)))
}

/** 0 is Sunday. */
export function weekdayOf(day: Day): number {
  return new Date(msOf(day)).getUTCDay()
}

/** The month of a day in weeks from Sunday to Saturday; undefined where other months have theirs. */
export function weeksAround(day: Day): (Day | undefined)[][] {
  const month = day.slice(0, 7)
  const first = addDays(`${month}-01`, -weekdayOf(`${month}-01`))
  const weeks = Array.from({ length: 6 }, (_, week) =>
    Array.from({ length: 7 }, (_, at) => addDays(first, week * 7 + at)),
  )
  const own = weeks.map((week) => week.map((each) => (each.startsWith(month) ? each : undefined)))
  return own.filter((week) => week.some((each) => each !== undefined))
}
