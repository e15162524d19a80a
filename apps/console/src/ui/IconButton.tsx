import { clsx } from 'clsx'
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { Spinner } from './Spinner.tsx'

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
