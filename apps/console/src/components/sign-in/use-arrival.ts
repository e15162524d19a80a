import type { Login } from '@postern/contract/sign-in/auth'
import { useSession } from '../../api/context.ts'
import { markArrival } from '../../stores/arrival.ts'
import { dropDraft } from '../../stores/draft.ts'

/** Begins the session of a sign-in, and opens the page that the person wanted. */
export function useArrival() {
  const session = useSession()
  return async ({ token, expires_in }: Login, username: string): Promise<never> => {
    if (session.wasSomeoneElse(username)) dropDraft()
    session.begin(token, expires_in, username)
    return await leaveFor(session.takeRedirect())
  }
}

/** Never settles: the button stays busy until the next page takes over. */
export function leaveFor(path: string): Promise<never> {
  markArrival()
  location.replace(path)
  return new Promise(() => {})
}
