import { Popover as Base } from '@base-ui/react/popover'
import { CalendarDays } from 'lucide-react'
import { type ComponentProps, useRef, useState } from 'react'
import { type Day, findDay, renderDay } from '../util/days.ts'
import { IconButton } from './Button.tsx'
import { Calendar } from './Calendar.tsx'
import './TextInput.css'
import './Menu.css'
import './DateInput.css'

interface Props extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'min'> {
  /** What was typed; MM/dd/yyyy when it is a day. */
  value: string
  onValueChange: (value: string) => void
  /** The calendar offers no day before it. */
  min: Day
}

/** A day, typed or chosen from a calendar. */
export function DateInput({ value, onValueChange, min, onBlur, ...rest }: Props) {
  const [open, setOpen] = useState(false)
  const field = useRef<HTMLDivElement>(null)
  const popup = useRef<HTMLDivElement>(null)
  const day = findDay(value.trim())
  return (
    <Base.Root open={open} onOpenChange={setOpen}>
      <div className="affix date" ref={field}>
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
        <Base.Trigger render={<IconButton label="Choose a date" icon={CalendarDays} />} />
      </div>
      <Base.Portal>
        <Base.Positioner className="floating" anchor={field} align="end" sideOffset={4} collisionPadding={8}>
          <Base.Popup
            ref={popup}
            className="menu calendar"
            aria-label="Choose a date"
            initialFocus={() => popup.current?.querySelector<HTMLElement>('td [tabindex="0"]') ?? true}
          >
            <Calendar
              value={day}
              min={min}
              onSelect={(chosen) => {
                onValueChange(renderDay(chosen))
                setOpen(false)
              }}
            />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
