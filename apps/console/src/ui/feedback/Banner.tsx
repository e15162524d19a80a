import { clsx } from 'clsx'
import { CircleAlert, Info, TriangleAlert, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from '../Button.tsx'
import './Banner.css'

const ICONS = { bad: CircleAlert, warn: TriangleAlert, info: Info } as const

export interface BannerProps {
  kind: keyof typeof ICONS
  children: ReactNode
  /** `alert` interrupts a screen reader: for what just went wrong. */
  role?: 'alert' | 'status'
  onClose?: () => void
  /** One small action at the end. */
  action?: ReactNode
  className?: string
}

export function Banner({ kind, children, role, onClose, action, className }: BannerProps) {
  const Icon = ICONS[kind]
  return (
    <div className={clsx('note', kind, className)} role={role}>
      <Icon className="ic" />
      <div>{children}</div>
      {action}
      {onClose && <IconButton label="Close" icon={X} size="sm" onClick={onClose} />}
    </div>
  )
}
