import type { StreamState } from '../api/stream.ts'
import { Spinner } from '../ui/Button.tsx'
import './LiveMark.css'

/** Whether the page follows the server. */
export function LiveMark({ state, text = 'Updates live' }: { state: StreamState; text?: string }) {
  return (
    <p className="mark" role="status">
      {state === 'live' && (
        <>
          <span className="beat" aria-hidden="true" />
          {text}
        </>
      )}
      {state === 'reconnecting' && (
        <>
          <Spinner />
          Reconnecting
        </>
      )}
      {state === 'lost' && 'No live updates'}
    </p>
  )
}
