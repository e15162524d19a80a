import { useEffect, useEffectEvent } from 'react'
import { useLocation } from 'react-router'
import { useSession } from '../api/context.ts'
import { holdBack } from '../stores/back.ts'

/**
 * While `active`, the browser's Back asks before leaving the page, and so does the browser before a reload. Links
 * need no guard, because a dialog covers them. The end of the session does not ask.
 */
export function useLeaveGuard(active: boolean, ask: () => Promise<boolean>): void {
  const session = useSession()
  const { pathname, key } = useLocation()
  const question = useEffectEvent(ask)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each key is another place in the history
  useEffect(() => {
    if (active) return holdBack(pathname, () => question())
  }, [active, pathname, key])
  useEffect(() => {
    if (!active) return
    const hold = (event: BeforeUnloadEvent) => {
      if (session.token() !== null) event.preventDefault()
    }
    window.addEventListener('beforeunload', hold)
    return () => window.removeEventListener('beforeunload', hold)
  }, [active, session])
}
