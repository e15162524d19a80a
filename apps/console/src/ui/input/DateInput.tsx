import { CalendarDays } from 'lucide-react'
import { type ComponentProps, useRef } from 'react'
import { type Day, findDay, renderDay } from '../../util/days.ts'
import { IconButton } from '../Button.tsx'
import './TextInput.css'
import './DateInput.css'

interface Props extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'min'> {
  /** The typed text; MM/dd/yyyy when it is a day. */
  value: string
  onValueChange: (value: string) => void
  /** The calendar offers no day before it. */
  min: Day
}

/** The last day of a year that all sides still understand. */
const LAST: Day = '9998-12-31'

/** A day, typed or chosen from the browser's calendar. */
export function DateInput({ value, onValueChange, min, onBlur, ...rest }: Props) {
  const calendar = useRef<HTMLInputElement>(null)
  const day = findDay(value.trim())
  return (
    <div className="affix date">
      <input
        className="input"
        autoComplete="off"
        spellCheck={false}
        inputMode="numeric"
        maxLength={20}
        {...rest}
        type="text"
        value={value}
        onChange={(event) => onValueChange(event.target.value)}
        onBlur={(event) => {
          if (day) onValueChange(renderDay(day))
          onBlur?.(event)
        }}
      />
      <IconButton label="Choose a date" icon={CalendarDays} onClick={() => calendar.current?.showPicker()} />
      {/* Only its calendar is visible, because the field would show the day in the browser's format. */}
      <input
        ref={calendar}
        type="date"
        tabIndex={-1}
        aria-hidden="true"
        min={min}
        max={LAST}
        value={day ?? ''}
        onChange={({ target }) => onValueChange(target.value && renderDay(target.value))}
      />
    </div>
  )
}
