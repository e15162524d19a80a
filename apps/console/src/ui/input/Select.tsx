import { clsx } from 'clsx'
import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'
import './TextInput.css'
import './Select.css'

export interface Option {
  value: string
  text: string
}

export interface SelectProps extends Omit<ComponentProps<'select'>, 'onChange' | 'value'> {
  options: readonly Option[]
  value: string
  onValueChange: (value: string) => void
  mono?: boolean
}

/** The platform's own select: it works with every keyboard, screen reader and phone. */
export function Select({ options, onValueChange, mono, ...rest }: SelectProps) {
  return (
    <div className="select">
      <select
        {...rest}
        className={clsx('input', mono && 'mono')}
        onChange={(event) => onValueChange(event.target.value)}
      >
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <ChevronDown className="ic" />
    </div>
  )
}

export interface PillsProps {
  label: string
  options: readonly Option[]
  value: string
  onValueChange: (value: string) => void
}

/** Chooses one of a few. */
export function Pills({ label, options, value, onValueChange }: PillsProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: these are buttons of a tool bar, not a part of a form
    <div className="pills" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onValueChange(option.value)}
        >
          {option.text}
        </button>
      ))}
    </div>
  )
}
