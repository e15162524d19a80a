import { clsx } from 'clsx'
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import './Button.css'

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

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  /** What it does, in words: an icon alone has no name. */
  label: string
  icon: LucideIcon
  size?: 'md' | 'sm'
  busy?: boolean
}

export function IconButton({
  label,
  icon: Icon,
  size = 'md',
  busy,
  className,
  disabled,
  ...rest
}: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={rest.title ?? label}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={clsx('btn ghost icon', size === 'sm' && 'sm', className)}
    >
      {busy ? <Spinner /> : <Icon className="ic" />}
    </button>
  )
}

export function Spinner() {
  return <span className="spin" aria-hidden="true" />
}
