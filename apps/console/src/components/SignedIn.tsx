import { type ReactNode, useEffect } from 'react'
import { useLocation } from 'react-router'
import { useSession } from '../api/context.ts'
import { urls } from '../util/urls.ts'

/** For people with a session; all others sign in first and then come back. */
export function SignedIn({ children }: { children: ReactNode }) {
  const session = useSession()
  const { pathname, search, hash } = useLocation()
  const isSignedIn = session.token() !== null
  useEffect(() => {
    if (isSignedIn) return
    session.remember(pathname + search + hash)
    location.replace(urls.login())
  }, [isSignedIn, session, pathname, search, hash])
  return isSignedIn && children
}
