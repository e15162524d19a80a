import { errorMessage, isTold } from '../api/api-error.ts'
import { toast } from '../ui/feedback/Toasts.tsx'
import { type ConfirmOptions, confirm } from '../ui/overlay/confirm.ts'

interface ConfirmedAction {
  question: ConfirmOptions
  /** @param isChosen whether the question's box is ticked, if it has one */
  act: (isChosen: boolean) => Promise<unknown>
  /** The toast's text after success. */
  done: string
  /** The name of the thing it was done to. */
  subject: string
  /** Takes it back, from the toast. */
  undo?: () => void
  /** Called afterwards, even after a failure: a refusal may mean that something has changed. */
  refresh: () => Promise<unknown>
}

/**
 * Asks for confirmation; the dialog stays, busy, until the action and the refresh are done.
 * @returns whether it was done
 */
export function ask({ question, act, done, subject, undo, refresh }: ConfirmedAction): Promise<boolean> {
  const run = async (isChosen: boolean) => {
    const isDone = await attempt(() => act(isChosen))
    if (isDone) toast.success(done, subject, undo && [{ text: 'Undo', run: undo }])
    await refresh()
    return isDone
  }
  return confirm({ ...question, run })
}

/**
 * Does something, or shows in a toast why it failed.
 * @returns whether it was done
 */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act()
    return true
  } catch (error) {
    if (!isTold(error)) toast.error(errorMessage(error))
    return false
  }
}
