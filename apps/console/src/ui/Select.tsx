import { clsx } from 'clsx'
import { ChevronDown } from 'lucide-react'
import type { ComponentProps } from 'react'

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
