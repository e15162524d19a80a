import { clsx } from 'clsx'
import type { ComponentProps } from 'react'
import './TextInput.css'

export interface TextInputProps extends ComponentProps<'input'> {
  /** For texts that people copy: addresses, keys, paths. */
  mono?: boolean
}

export function TextInput({ mono, className, type = 'text', autoComplete = 'off', ...rest }: TextInputProps) {
  return (
    <input
      spellCheck={false}
      {...rest}
      type={type}
      autoComplete={autoComplete}
      className={clsx('input', mono && 'mono', className)}
    />
  )
}

export interface NumberInputProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange' | 'type'> {
  /** Null when empty; a text that is no whole number is NaN, which no schema accepts. */
  value: number | null
  onValueChange: (value: number | null) => void
}

/** A whole number in a text input, so that the wheel does not change it and `e` is not accepted. */
export function NumberInput({ value, onValueChange, ...rest }: NumberInputProps) {
  return (
    <TextInput
      {...rest}
      mono
      inputMode="numeric"
      value={value === null || Number.isNaN(value) ? '' : String(value)}
      onChange={(event) => {
        const digits = event.target.value.replace(/\D/g, '').slice(0, 9)
        onValueChange(digits === '' ? null : Number(digits))
      }}
    />
  )
}

/** A text of several lines that people copy: addresses, paths. */
export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea spellCheck={false} autoComplete="off" {...rest} className={clsx('input mono', className)} />
  )
}
