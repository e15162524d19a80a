import { clsx } from 'clsx'
import type { ReactNode } from 'react'
import { Tooltip } from '../overlay/Tooltip.tsx'
import './Badge.css'

export interface BadgeProps {
  /** The kind of badge, which determines its look. */
  kind: 'gateway' | 'local' | 'node' | 'accent' | 'ok' | 'warn' | 'bad' | 'info' | 'mute'
  children: ReactNode
  tooltip?: ReactNode
  /** When its tooltip is reached in another way than by Tab. */
  tabIndex?: -1
}

export function Badge({ kind, children, tooltip, tabIndex }: BadgeProps) {
  const className = clsx('badge', kind)
  if (!tooltip) return <span className={className}>{children}</span>
  return (
    <Tooltip text={tooltip} focusable {...(tabIndex && { tabIndex })} className={className}>
      {children}
    </Tooltip>
  )
}
