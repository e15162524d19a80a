import { clsx } from 'clsx'
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { Spinner } from './Spinner.tsx'

export interface ButtonProps extends ComponentProps<'button'> {
  variant?: 'default' | 'primary' | 'danger' | 'success' | 'ghost'
  size?: 'md' | 'sm'
  icon?: LucideIcon
  /** Disabled, with a spinner in place of the icon and the same width. */
  busy?: boolean
  block?: boolean
}

export function Button({ variant = 'default', size = 'md', icon: Icon, busy, block, ...props }: ButtonProps) {
  const { className, children, disabled, type = 'button', ...rest } = props
  return (
    <button
      {...rest}
      type={type}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={clsx(
        'btn',
        variant !== 'default' && variant,
        size === 'sm' && 'sm',
        block && 'block',
        className,
      )}
    >
      {busy ? <Spinner /> : Icon && <Icon className="ic" />}
      {children}
    </button>
  )
}
