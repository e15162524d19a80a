import { clsx } from 'clsx'
import type { ReactNode } from 'react'
import { Tooltip } from './Tooltip.tsx'
import './Badge.css'

export interface BadgeProps {
  /** What a thing is; the look follows. */
  kind: 'gateway' | 'local' | 'node' | 'accent' | 'ok' | 'warn' | 'bad' | 'info' | 'mute'
  children: ReactNode
  tooltip?: ReactNode
}

export function Badge({ kind, children, tooltip }: BadgeProps) {
  const className = clsx('badge', kind)
  if (!tooltip) return <span className={className}>{children}</span>
  return (
    <Tooltip text={tooltip} focusable className={className}>
      {children}
    </Tooltip>
  )
}
