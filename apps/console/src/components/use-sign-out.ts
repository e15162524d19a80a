import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { useMutation } from '@tanstack/react-query'
import { useApi, useSession } from '../api/context.ts'

/** Ends the session, here and at the server. */
export function useSignOut() {
  const api = useApi()
  const session = useSession()
  return useMutation({
    mutationFn: () => api.call(endpoints.logout, {}),
    // Even if the server was not reached: this browser must forget the token in any case.
    onSettled: () => session.end(true),
    onError: (error) => console.error('The sign-out could not be sent to the server', error),
  })
}
