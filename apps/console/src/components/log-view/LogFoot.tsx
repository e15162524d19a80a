import { LIMITS } from '@postern/contract/limits'
import { ArrowDown } from 'lucide-react'
import { Button } from '../../ui/Button.tsx'
import type { Follow } from './use-follow.ts'
import type { LogViewState } from './use-log-view.ts'

/** How much is kept and shown, and whether the newest line is being followed. */
export function LogFoot({ view, follow }: { view: LogViewState; follow: Follow }) {
  const { lines, shown, isPaused, waiting } = view
  return (
    <footer className="logs-foot">
      <p>
        {shown.length < lines.length && (
          <>
            <b>{shown.length}</b> shown,{' '}
          </>
        )}
        <b>{lines.length}</b> of {LIMITS.logLines} lines kept
      </p>
      {follow.isFollowing ? (
        <p className="sub">
          {isPaused ? pausedWords(waiting) : 'Following the newest line. Scroll up to hold.'}
        </p>
      ) : (
        <Button variant="ghost" size="sm" icon={ArrowDown} onClick={follow.toEnd}>
          Jump to the newest line
        </Button>
      )}
    </footer>
  )
}

function pausedWords(waiting: number): string {
  if (waiting === 0) return 'Paused. No new lines since.'
  return waiting === 1 ? 'Paused. 1 new line waits.' : `Paused. ${waiting} new lines wait.`
}
