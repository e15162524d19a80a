import { clsx } from 'clsx'
import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { useTooltip } from './overlay/Tooltip.tsx'
import './Button.css'

export interface ButtonProps extends ComponentProps<'button'> {
  variant?: 'default' | 'primary' | 'danger' | 'success' | 'ghost'
  size?: 'md' | 'sm'
  icon?: LucideIcon
  /** Disabled, with a spinner in place of its text, in the same width and colour. */
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
      {Icon && <Icon className="ic" />}
      {children}
      {busy && <Spinner />}
    </button>
  )
}

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  /** The accessible name, because an icon has none. */
  label: string
  icon: LucideIcon
  size?: 'md' | 'sm'
  busy?: boolean
  /** The placement of its tooltip. */
  tipSide?: 'top' | 'left'
}

/** Its tooltip shows under the pointer, and on keyboard focus. */
export function IconButton(props: IconButtonProps) {
  const { label, icon: Icon, size = 'md', busy, tipSide, className, disabled, ...rest } = props
  const { events, close, popup } = useTooltip(label, true, tipSide)
  return (
    <>
      <button
        type="button"
        {...rest}
        onPointerEnter={both(rest.onPointerEnter, events.onPointerEnter)}
        onPointerLeave={both(rest.onPointerLeave, events.onPointerLeave)}
        onFocus={both(rest.onFocus, (event) => {
          if (event.currentTarget.matches(':focus-visible')) events.onFocus(event)
        })}
        onBlur={both(rest.onBlur, events.onBlur)}
        onClick={both(rest.onClick, close)}
        aria-label={label}
        disabled={disabled || busy}
        aria-busy={busy || undefined}
        className={clsx('btn ghost icon', size === 'sm' && 'sm', className)}
      >
        <Icon className="ic" />
        {busy && <Spinner />}
      </button>
      {popup}
    </>
  )
}

interface IconLinkProps {
  label: string
  icon: LucideIcon
  href: string
  className?: string
}

/** A page outside the console, in a new tab. */
export function IconLink({ label, icon: Icon, href, className }: IconLinkProps) {
  const { events, popup } = useTooltip(label, true)
  return (
    <>
      <a
        {...events}
        className={clsx('btn ghost icon', className)}
        href={href}
        target="_blank"
        rel="noreferrer"
        aria-label={label}
      >
        <Icon className="ic" />
      </a>
      {popup}
    </>
  )
}

function both<E>(first: ((event: E) => void) | undefined, second: (event: E) => void): (event: E) => void {
  return (event) => {
    first?.(event)
    second(event)
  }
}

export function Spinner() {
  return <span className="spin" aria-hidden="true" />
}
