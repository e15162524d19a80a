import { account } from '@postern/contract/endpoints/people'
import { toast } from '../ui/feedback/Toasts.tsx'
import { confirm } from '../ui/overlay/confirm.ts'
import { ApiError, errorMessage } from './api-error.ts'
import type { Api } from './client.ts'

/** How often a wrong password may be typed. */
const MOST_TRIES = 3

/**
 * Asks for the password once more, for what decides who may come in.
 * @returns whether the server took it
 */
export async function confirmPerson(api: Api): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    let isWrong = false
    const isDone = await confirm({
      title: 'Confirm That It Is You',
      description: 'This decides who may come in, and you signed in a while ago.',
      acceptButtonText: 'Confirm',
      asksPassword: true,
      async run(_, password) {
        try {
          await api.call(account.confirmAccount, { body: { password: password || null } })
          return true
        } catch (error) {
          toast.error((error instanceof ApiError && error.errors[0]?.message) || errorMessage(error))
          isWrong = true
          return false
        }
      },
    })
    if (isDone || !isWrong) return isDone
  }
  return false
}
