import type { FiguresSpan } from '@postern/contract/figures'

/** As many as make steps of 1 minute, 10 minutes, 1 hour and 3 hours. */
export const POINTS: Readonly<Record<FiguresSpan, number>> = { hour: 60, day: 144, week: 168, month: 240 }

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const LENGTHS: Readonly<Record<FiguresSpan, number>> = {
  hour: HOUR,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
}

/** The shortest span that has a moment; undefined when none has. Times are ms since the epoch. */
export function spanOf(at: number, now: number): FiguresSpan | undefined {
  const spans = ['hour', 'day', 'week', 'month'] as const
  // The first step of a span may have begun, or not.
  return at > now + MINUTE ? undefined : spans.find((span) => now - at < LENGTHS[span] * 0.95)
}

const clock = new Intl.DateTimeFormat('en-US', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const weekday = new Intl.DateTimeFormat('en-US', { weekday: 'short', day: 'numeric' })
const date = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' })
const day = new Intl.DateTimeFormat('en-US', { weekday: 'short', month: 'short', day: 'numeric' })

/** From when to when a point counts: `Fri, Nov 27, 07:10 to 07:20`, in the browser's time zone. */
export function stepText(from: number, step: number): string {
  return `${day.format(from)}, ${clock.format(from)} to ${clock.format(from + step)}`
}

export interface TimeTick {
  index: number
  text: string
}

/** Where a span has its marks: at full ten minutes, four hours, days or every fifth day of the browser's time zone. */
const MARKS: Readonly<Record<FiguresSpan, { isAt: (time: Date) => boolean; text: Intl.DateTimeFormat }>> = {
  hour: { isAt: (time) => time.getMinutes() % 10 === 0, text: clock },
  day: { isAt: (time) => time.getHours() % 4 === 0, text: clock },
  week: { isAt: (time) => time.getHours() === 0, text: weekday },
  month: {
    isAt: (time) => time.getHours() < 3 && time.getDate() % 5 === 1 && time.getDate() < 31,
    text: date,
  },
}

/**
 * The marks of the time axis, none closer to the next than there is room for.
 * @param from and `step` in ms
 * @param most how many there is room for
 */
export function timeTicks(
  span: FiguresSpan,
  { from, step, length }: { from: number; step: number; length: number },
  most: number,
): TimeTick[] {
  const { isAt, text } = MARKS[span]
  const all: TimeTick[] = []
  let wasAt = true
  for (let index = 0; index < length; index++) {
    const time = new Date(from + index * step)
    const isHere = isAt(time)
    // Several points in a row may be in the hour that has the mark.
    if (isHere && !wasAt) all.push({ index, text: text.format(time) })
    wasAt = isHere
  }
  const every = Math.max(Math.ceil(all.length / Math.max(most, 1)), 1)
  return all.filter((_, position) => position % every === 0)
}
