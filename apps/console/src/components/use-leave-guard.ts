import { useEffect, useEffectEvent } from 'react'
import { useBlocker } from 'react-router'
import { useSession } from '../api/context.ts'

/**
 * While `active`, the browser's Back asks before it takes the page away, and so does the browser itself before
 * a reload. Links need no guard: a dialog keeps them out of reach. The end of the session asks nobody.
 */
export function useLeaveGuard(active: boolean, ask: () => Promise<boolean>): void {
  const session = useSession()
  const blocker = useBlocker(
    ({ currentLocation, nextLocation, historyAction }) =>
      active && historyAction === 'POP' && currentLocation.pathname !== nextLocation.pathname,
  )
  const decide = useEffectEvent(async () => {
    if (await ask()) blocker.proceed?.()
    else blocker.reset?.()
  })
  useEffect(() => {
    if (blocker.state === 'blocked') void decide()
  }, [blocker.state])
  useEffect(() => {
    if (!active) return
    const hold = (event: BeforeUnloadEvent) => {
      if (session.token() !== null) event.preventDefault()
    }
    window.addEventListener('beforeunload', hold)
    return () => window.removeEventListener('beforeunload', hold)
  }, [active, session])
}
