import { clsx } from 'clsx'
import type { ComponentProps } from 'react'

export interface TextInputProps extends ComponentProps<'input'> {
  /** For what is copied: addresses, keys, paths. */
  mono?: boolean
}

export function TextInput({ mono, className, type = 'text', ...rest }: TextInputProps) {
  return (
    <input
      spellCheck={false}
      autoComplete="off"
      {...rest}
      type={type}
      className={clsx('input', mono && 'mono', className)}
    />
  )
}
