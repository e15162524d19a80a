import { errorMessage, isTold } from '../api/api-error.ts'
import { toast } from '../ui/feedback/Toasts.tsx'
import { type ConfirmOptions, confirm } from '../ui/overlay/confirm.ts'

interface ConfirmedAction {
  question: ConfirmOptions
  /** @param isChosen whether the question's box is ticked, if it has one */
  act: (isChosen: boolean) => Promise<unknown>
  /** What the toast says when it was done. */
  done: string
  /** What it was done to, by its name. */
  subject: string
  /** Afterwards, done or not: a refusal may mean that something has changed. */
  refresh: () => Promise<unknown>
}

/** Asks; the dialog stays, busy, until the action and the refresh are done. Says whether it was done. */
export function ask({ question, act, done, subject, refresh }: ConfirmedAction): Promise<boolean> {
  const run = async (isChosen: boolean) => {
    const isDone = await attempt(() => act(isChosen))
    if (isDone) toast.success(done, subject)
    await refresh()
    return isDone
  }
  return confirm({ ...question, run })
}

/** Does something, or says in a toast why it failed; says whether it was done. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act()
    return true
  } catch (error) {
    if (!isTold(error)) toast.error(errorMessage(error))
    return false
  }
}
