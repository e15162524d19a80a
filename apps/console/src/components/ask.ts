import { ApiError, wordsForError } from '../api/api-error.ts'
import { type ConfirmOptions, confirm } from '../ui/confirm.ts'
import { toast } from '../ui/Toasts.tsx'

interface Deed {
  question: ConfirmOptions
  act: () => Promise<unknown>
  /** What the toast says when it was done. */
  done: string
  /** Afterwards, done or not: what was refused may have changed meanwhile. */
  refresh: () => Promise<unknown>
}

/** Asks; the question stays, busy, until the deed and what follows from it are there. Answers whether it was done. */
export function ask({ question, act, done, refresh }: Deed): Promise<boolean> {
  const run = async () => {
    const isDone = await attempt(act)
    if (isDone) toast.success(done)
    await refresh()
    return isDone
  }
  return confirm({ ...question, run })
}

/** Does something and says in a toast why not; answers whether it was done. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act()
    return true
  } catch (error) {
    // The client itself shows a 400.
    if (!(error instanceof ApiError && error.status === 400)) toast.error(wordsForError(error))
    return false
  }
}
