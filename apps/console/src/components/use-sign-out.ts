import { endpoints } from '@postern/contract/console-endpoints'
import { useMutation } from '@tanstack/react-query'
import { useApi, useSession } from '../api/context.ts'

/** Ends the session, here and at the server. */
export function useSignOut() {
  const api = useApi()
  const session = useSession()
  return useMutation({
    mutationFn: () => api.call(endpoints.logout, {}),
    // Also when the server could not be told: this browser must forget the token in any case.
    onSettled: () => session.end(true),
    onError: (error) => console.error('The server could not be told about the sign-out', error),
  })
}
