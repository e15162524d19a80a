import { ChevronLeft, ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { addDays, addMonths, type Day, today, weekdayOf, weeksAround } from '../util/days.ts'
import { IconButton } from './Button.tsx'
import './Calendar.css'

/** The last day of a year that all sides still understand. */
const LAST: Day = '9998-12-31'

interface Props {
  value: Day | undefined
  /** Days before it cannot be chosen. */
  min: Day
  onSelect: (day: Day) => void
}

/**
 * One month to choose a day from, with the keys of the WAI-ARIA date picker: arrows, Home and End, Page Up and Page
 * Down, with Shift for years. One day is in the tab order: the one with `tabindex="0"`.
 */
export function Calendar({ value, min, onSelect }: Props) {
  const clamp = (day: Day): Day => (day < min ? min : day > LAST ? LAST : day)
  const [cursor, setCursor] = useState(() => clamp(value ?? min))
  const titleId = useId()
  const grid = useRef<HTMLTableElement>(null)
  const isByKey = useRef(false)
  useEffect(() => {
    if (isByKey.current) grid.current?.querySelector<HTMLElement>(`[data-day="${cursor}"]`)?.focus()
    isByKey.current = false
  }, [cursor])
  const onKeyDown = (event: KeyboardEvent) => {
    const target = dayForKey(event, cursor)
    if (!target) return
    event.preventDefault()
    isByKey.current = true
    setCursor(clamp(target))
  }
  return (
    <>
      <Head
        titleId={titleId}
        cursor={cursor}
        min={min}
        onMove={(months) => setCursor(clamp(addMonths(cursor, months)))}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the grid of the WAI-ARIA date picker is a table */}
      <table ref={grid} role="grid" aria-labelledby={titleId} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {WEEKDAYS.map((name) => (
              <th key={name} scope="col" abbr={name}>
                {name.slice(0, 2)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksAround(cursor).map((week) => (
            <tr key={week.find(Boolean)}>
              {week.map((day, at) => (
                // biome-ignore lint/a11y/useAriaPropsSupportedByRole: a cell of a grid is a gridcell
                <td key={WEEKDAYS[at]} aria-selected={day !== undefined && day === value}>
                  {day && <DayButton day={day} isCursor={day === cursor} min={min} onSelect={onSelect} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

interface HeadProps {
  titleId: string
  cursor: Day
  min: Day
  onMove: (months: number) => void
}

/** The month that is shown, and the ways to its neighbours. */
function Head({ titleId, cursor, min, onMove }: HeadProps) {
  return (
    <header className="cal-head">
      <h3 id={titleId} aria-live="polite">
        {MONTH.format(new Date(cursor))}
      </h3>
      <IconButton
        label="Previous month"
        icon={ChevronLeft}
        disabled={cursor.slice(0, 7) <= min.slice(0, 7)}
        onClick={() => onMove(-1)}
      />
      <IconButton
        label="Next month"
        icon={ChevronRight}
        disabled={cursor.slice(0, 7) >= LAST.slice(0, 7)}
        onClick={() => onMove(1)}
      />
    </header>
  )
}

interface DayProps {
  day: Day
  isCursor: boolean
  min: Day
  onSelect: (day: Day) => void
}

function DayButton({ day, isCursor, min, onSelect }: DayProps) {
  return (
    <button
      type="button"
      data-day={day}
      tabIndex={isCursor ? 0 : -1}
      disabled={day < min}
      aria-label={FULL.format(new Date(day))}
      aria-current={day === today() ? 'date' : undefined}
      onClick={() => onSelect(day)}
    >
      {Number(day.slice(8))}
    </button>
  )
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTH = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const FULL = new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeZone: 'UTC' })

function dayForKey({ key, shiftKey }: KeyboardEvent, day: Day): Day | undefined {
  const months = shiftKey ? 12 : 1
  switch (key) {
    case 'ArrowLeft':
      return addDays(day, -1)
    case 'ArrowRight':
      return addDays(day, 1)
    case 'ArrowUp':
      return addDays(day, -7)
    case 'ArrowDown':
      return addDays(day, 7)
    case 'Home':
      return addDays(day, -weekdayOf(day))
    case 'End':
      return addDays(day, 6 - weekdayOf(day))
    case 'PageUp':
      return addMonths(day, -months)
    case 'PageDown':
      return addMonths(day, months)
    default:
      return undefined
  }
}
