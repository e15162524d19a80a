import type { ReactNode } from 'react'
import { ApiError, wordsForError } from '../api/api-error.ts'
import { EmptyState, ErrorPanel } from '../ui/EmptyState.tsx'

interface Props {
  error: unknown
  /** What was asked for, like `node`. */
  what: string
  busy: boolean
  onRetry: () => void
  /** The way back to where it should have been. */
  back: ReactNode
}

/** True when the server says that there is no such record; an id that cannot be one counts. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 422)
}

/** Instead of the page of a single record that could not be had. */
export function RecordError({ error, what, busy, onRetry, back }: Props) {
  if (isMissing(error))
    return (
      <EmptyState
        door="bricked"
        title={`This ${what} does not exist`}
        text="It may have been deleted, or the address is not right."
      >
        {back}
      </EmptyState>
    )
  return (
    <ErrorPanel
      title={`The ${what} could not be loaded`}
      text={wordsForError(error)}
      busy={busy}
      onRetry={onRetry}
    />
  )
}
