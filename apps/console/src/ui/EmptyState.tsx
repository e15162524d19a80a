import type { ReactNode } from 'react'
import { Door, type DoorKind } from './Door.tsx'

export interface EmptyStateProps {
  door: DoorKind
  title: string
  text: ReactNode
  /** One action, or two for a search that finds nothing. */
  children?: ReactNode
}

export function EmptyState({ door, title, text, children }: EmptyStateProps) {
  return (
    <div className="empty">
      <Door kind={door} />
      <h2>{title}</h2>
      <p>{text}</p>
      {children && <div className="acts">{children}</div>}
    </div>
  )
}
