import { RotateCw, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './Button.tsx'

export interface ErrorPanelProps {
  title: string
  text: ReactNode
  onRetry?: () => void
  /** While it is tried again. */
  busy?: boolean
}

/** Something could not be loaded: never shown as empty. */
export function ErrorPanel({ title, text, onRetry, busy = false }: ErrorPanelProps) {
  return (
    <div className="empty" role="alert">
      <span className="eic">
        <TriangleAlert className="ic" />
      </span>
      <h2>{title}</h2>
      <p>{text}</p>
      {onRetry && (
        <Button icon={RotateCw} busy={busy} onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  )
}
