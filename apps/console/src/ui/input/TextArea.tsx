import { clsx } from 'clsx'
import type { ComponentProps } from 'react'
import './TextInput.css'
import './TextArea.css'

/** Text of several lines, for what is copied: addresses, paths. */
export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea spellCheck={false} autoComplete="off" {...rest} className={clsx('input mono', className)} />
  )
}
