import { RotateCw, TriangleAlert } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { Button } from '../Button.tsx'
import { FailureNote } from './FailureNote.tsx'
import './EmptyState.css'

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

export interface ErrorPanelProps {
  title: string
  /** Absent when a toast has shown the reason. */
  text?: ReactNode
  failure?: ComponentProps<typeof FailureNote>['failure']
  onRetry?: () => void
  /** While it is tried again. */
  busy?: boolean
}

/** For something that could not be loaded, which is never shown as empty. */
export function ErrorPanel({ title, text, failure, onRetry, busy = false }: ErrorPanelProps) {
  return (
    <div className="empty" role="alert">
      <span className="tile bad">
        <TriangleAlert className="ic" />
      </span>
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {failure && <FailureNote failure={failure} />}
      {onRetry && (
        <Button icon={RotateCw} busy={busy} onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  )
}

const STONES =
  'M0 8h30M66 8h30M0 24h30M66 24h30M0 40h30M66 40h30M14 0v8M82 0v8M4 8v16M92 8v16M20 8v16M76 8v16M14 24v16M82 24v16M4 40v15M92 40v15M20 40v15M76 40v15'
const BRICKS = 'M35 24h26M34 40h28M48 12.5v11.5M41 24v16M55 24v16M48 40v15'
const ARCH = 'M34 55.25V26a14 14 0 0 1 28 0v29.25'

/**
 * The arch of the empty states: ajar when there is nothing yet, dashed when nothing matches, bricked up when there is
 * no such page.
 */
type DoorKind = 'ajar' | 'dashed' | 'bricked'

function Door({ kind }: { kind: DoorKind }) {
  return (
    <svg className="door" viewBox="0 0 96 56" aria-hidden="true">
      <path className="stone" d={STONES} />
      {kind === 'ajar' && <path className="lit" d={`${ARCH}z`} />}
      {kind === 'bricked' && <path className="stone" d={BRICKS} />}
      <path className={kind === 'dashed' ? 'jamb dash' : 'jamb'} d={ARCH} />
      <path className="jamb" d="M0 55.250h96" />
      {kind === 'ajar' && (
        <path className="leafd" d="M34.750 55.250V27c0-6 3.500-11 8-11 5.500 0 9 5.500 9 12v24.500z" />
      )}
    </svg>
  )
}
